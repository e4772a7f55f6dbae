// SPDX-License-Identifier: GPL-2.0
/*
 * Pictures in SVG. They are as wide as there is room for, but letters and dots keep their
 * size: what lies beside each other is in percent, what lies above each other in pixels.
 */
#include "report.h"

#define BAR_HEIGHT	16
#define BELOW_HEIGHT	4
#define LANE_HEIGHT	44
#define LANE_LINE	30	/* in a lane: where the dots are */
#define HISTOGRAM_HEIGHT 90
#define AXIS_HEIGHT	24

/* What other pictures refer to: the hatching. */
void svg_defs(FILE *out)
{
	html(out, "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\">\n"
	     "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\"\n"
	     "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\n"
	     "<rect class=\"hatch-ground\" width=\"5\" height=\"5\"/>\n"
	     "<rect class=\"hatch-line\" width=\"2\" height=\"5\"/>\n"
	     "</pattern></defs></svg>\n");
}

static void svg_begin(FILE *out, const char *class, int height,
		      const char *label)
{
	html(out, "<svg class=\"%s\" width=\"100%%\" height=\"%d\" role=\"img\">\n"
	     "<title>%s</title>\n", class, height, label);
}

/* In percent; what is not nothing can be seen. */
static double part(long long value, long long scale)
{
	double percent = scale > 0 ? 100.0 * value / scale : 0;

	return value > 0 && percent < 0.3 ? 0.3 : percent;
}

/**
 * svg_bar() - draw a stacked bar
 * @out: where to
 * @label: what it shows, for those who do not see it
 * @segments: its parts, from the left
 * @nr: how many
 * @scale: what would be as wide as there is room
 * @below: a thin bar below it, for what it cannot be added to; 0: none
 */
void svg_bar(FILE *out, const char *label, const struct segment *segments,
	     size_t nr, long long scale, long long below)
{
	double left = 0;
	size_t i;

	svg_begin(out, "bar", BAR_HEIGHT + BELOW_HEIGHT + 2, label);
	html(out, "<rect class=\"track\" width=\"100%%\" height=\"%d\"/>",
	     BAR_HEIGHT);
	for (i = 0; i < nr; i++) {
		double width = part(segments[i].value, scale);

		if (width > 0)
			html(out, "<rect class=\"%s\" x=\"%.2f%%\" width=\"%.2f%%\"\n"
			     "height=\"%d\"><title>%s</title></rect>",
			     segments[i].class, left, width, BAR_HEIGHT,
			     segments[i].what);
		left += width;
	}
	if (below > 0)
		html(out, "<rect class=\"pinned\" y=\"%d\" width=\"%.2f%%\"\n"
		     "height=\"%d\"/>", BAR_HEIGHT + 2, part(below, scale),
		     BELOW_HEIGHT);
	html(out, "</svg>\n");
}

/* Where on a picture that has a margin for half a dot. */
static double across(double percent)
{
	return 3 + 0.94 * percent;
}

static void svg_ticks(FILE *out, const struct tick *ticks, size_t nr, int y,
		      double (*place)(double percent))
{
	size_t i;

	for (i = 0; i < nr; i++) {
		double x = place ? place(ticks[i].at) : ticks[i].at;
		const char *anchor = x < 8 ? "start" :
				     x > 98 ? "end" : "middle";

		html(out, "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\"\n"
		     "y2=\"%d\"/><text class=\"tick\" x=\"%.2f%%\" y=\"%d\"\n"
		     "text-anchor=\"%s\">%s</text>\n", x, x, y + 4,
		     x, y + 18, anchor, ticks[i].label);
	}
}

static void svg_dot(FILE *out, double x, int y, unsigned int nr,
		    const char *label)
{
	html(out, "<circle class=\"dot\" cx=\"%.2f%%\" cy=\"%d\" r=\"%d\">\n"
	     "<title>%u %s</title></circle>", x, y,
	     nr == 1 ? 5 : nr < 10 ? 8 : 10, nr, label);
	if (nr > 1)
		html(out, "<text class=\"in-dot\" x=\"%.2f%%\" y=\"%d\"\n"
		     "text-anchor=\"middle\">%u</text>", x, y + 4, nr);
}

/**
 * svg_dots() - draw what happened when, by kind
 * @out: where to
 * @label: what it shows, for those who do not see it
 * @lanes: the kinds, one above the other
 * @nr: how many
 * @ticks: of the axis below them
 * @nr_ticks: how many
 */
void svg_dots(FILE *out, const char *label, const struct dots *lanes, size_t nr,
	      const struct tick *ticks, size_t nr_ticks)
{
	int height = nr * LANE_HEIGHT;
	size_t i, at;

	svg_begin(out, "lanes", height + AXIS_HEIGHT, label);
	svg_ticks(out, ticks, nr_ticks, height, across);
	for (i = 0; i < nr; i++) {
		int top = i * LANE_HEIGHT;
		unsigned int sum = 0;

		for (at = 0; at < ARRAY_SIZE(lanes[i].nr); at++)
			sum += lanes[i].nr[at];
		html(out, "<text class=\"lane\" x=\"0\" y=\"%d\">%s: %u</text>\n"
		     "<line class=\"lane-line\" x1=\"0\" x2=\"100%%\" y1=\"%d\"\n"
		     "y2=\"%d\"/>\n", top + 14, lanes[i].label, sum,
		     top + LANE_LINE, top + LANE_LINE);
		for (at = 0; at < ARRAY_SIZE(lanes[i].nr); at++)
			if (lanes[i].nr[at])
				svg_dot(out, across(at + 0.5), top + LANE_LINE,
					lanes[i].nr[at], lanes[i].label);
		html(out, "\n");
	}
	html(out, "</svg>\n");
}

/**
 * svg_histogram() - draw columns beside each other
 * @out: where to
 * @label: what it shows, for those who do not see it
 * @columns: they; the highest takes all there is
 * @nr: how many
 * @ticks: of the axis below them
 * @nr_ticks: how many
 */
void svg_histogram(FILE *out, const char *label, const struct column *columns,
		   size_t nr, const struct tick *ticks, size_t nr_ticks)
{
	long long most = 1;
	size_t i;

	for (i = 0; i < nr; i++)
		if (columns[i].value > most)
			most = columns[i].value;
	svg_begin(out, "histogram", HISTOGRAM_HEIGHT + AXIS_HEIGHT, label);
	svg_ticks(out, ticks, nr_ticks, HISTOGRAM_HEIGHT, NULL);
	for (i = 0; i < nr; i++) {
		double height = HISTOGRAM_HEIGHT * (double)columns[i].value / most;

		if (!columns[i].value)
			continue;
		if (height < 1)
			height = 1;
		html(out, "<rect class=\"column\" x=\"%.2f%%\" y=\"%.1f\"\n"
		     "width=\"%.2f%%\" height=\"%.1f\"><title>%s: %lld</title>\n"
		     "</rect>\n", 100.0 * i / nr, HISTOGRAM_HEIGHT - height,
		     88.0 / nr, height, columns[i].what, columns[i].value);
	}
	html(out, "<line class=\"axis\" x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>\n"
	     "</svg>\n", HISTOGRAM_HEIGHT, HISTOGRAM_HEIGHT);
}

/**
 * svg_fan() - draw lines from one on the left to each of several on the right
 * @out: where to
 * @dashed: for each whether its line is
 * @nr: how many, each as high as the others
 *
 * Takes the height of what is beside it.
 */
void svg_fan(FILE *out, const bool *dashed, size_t nr)
{
	size_t i;

	html(out, "<svg viewBox=\"0 0 100 %zu\" preserveAspectRatio=\"none\"\n"
	     "aria-hidden=\"true\">", 2 * nr);
	for (i = 0; i < nr; i++)
		html(out, "<path class=\"%s\" d=\"M0 %zu C50 %zu 50 %zu 100 %zu\"/>",
		     dashed[i] ? "dashed" : "solid", nr, nr, 2 * i + 1,
		     2 * i + 1);
	html(out, "</svg>");
}
