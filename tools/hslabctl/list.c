// SPDX-License-Identifier: GPL-2.0
/* list: a table of the caches; show: all about one. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

struct column {
	const char *name;
	const char *file;	/* of the cache; "stats/" for a count; NULL: all faults */
};

static const struct column columns[] = {
	{ "cache", "" },
	{ "size", "object_size" },
	{ "slot", "slot_size" },
	{ "store", "store" },
	{ "owner", "owner" },
	{ "profile", "profile" },
	{ "merge", "merge" },
	{ "poison", "poison" },
	{ "zero", "zero" },
	{ "verify", "verify" },
	{ "check", "check" },
	{ "quarantine_kb", "quarantine_kb" },
	{ "pin", "pin" },
	{ "track", "track" },
	{ "on_violation", "on_violation" },
	{ "live", "stats/live" },
	{ "peak", "stats/peak" },
	{ "allocs", "stats/allocs" },
	{ "frees", "stats/frees" },
	{ "fails", "stats/fails" },
	{ "bytes", "stats/payload_bytes" },
	{ "quarantined", "stats/quarantined" },
	{ "aside", "stats/aside" },
	{ "faults", NULL },
};

#define DEFAULT_COLUMNS	"cache,size,slot,store,profile,merge,live,peak,faults"

struct row {
	char **cells;
	const char *key;	/* what it is sorted by */
};

static const struct column *find_column(const char *name)
{
	const char *names[ARRAY_SIZE(columns)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		names[i] = columns[i].name;
		if (!strcmp(name, names[i]))
			return &columns[i];
	}
	complain_unknown("list: unknown column", name, names,
			 ARRAY_SIZE(columns), ", see hslabctl list --help");
	return NULL;
}

static char *text_of(const json_t *value)
{
	char *text;

	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (!json_is_integer(value))
		return strdup("-");
	if (asprintf(&text, "%lld", (long long)json_integer_value(value)) < 0)
		abort();
	return text;
}

static char *cell(const struct column *column, const char *name,
		  const json_t *cache)
{
	long long faults;
	char *text;

	if (!column->file) {
		faults = snapshot_faults(cache);
		if (faults < 0)
			return strdup("-");
		if (asprintf(&text, "%lld", faults) < 0)
			abort();
		return text;
	}
	if (!*column->file)
		return strdup(name);
	if (!strncmp(column->file, "stats/", 6))
		return text_of(json_object_get(json_object_get(cache, "stats"),
					       column->file + 6));
	return text_of(json_object_get(cache, column->file));
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* Numbers from high to low, before words from a to z. */
static int compare_rows(const void *a, const void *b)
{
	const char *x = ((const struct row *)a)->key;
	const char *y = ((const struct row *)b)->key;

	if (is_number(x) && is_number(y)) {
		unsigned long long i = strtoull(x, NULL, 10);
		unsigned long long j = strtoull(y, NULL, 10);

		return (i < j) - (i > j);
	}
	if (is_number(x) != is_number(y))
		return is_number(x) ? -1 : 1;
	return strcmp(x, y);
}

static void print_row(char *const *cells, const size_t *widths,
		      const bool *right, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (right[i])
			printf("%*s", (int)widths[i], cells[i]);
		else
			printf("%-*s", i + 1 < nr ? (int)widths[i] : 0,
			       cells[i]);
		putchar(i + 1 < nr ? ' ' : '\n');
	}
}

static void print_rows(const struct row *rows, size_t nr_rows,
		       const struct column *const *shown, size_t nr)
{
	char *heads[ARRAY_SIZE(columns)];
	size_t widths[ARRAY_SIZE(columns)], i, j;
	bool right[ARRAY_SIZE(columns)];

	for (i = 0; i < nr; i++) {
		heads[i] = (char *)shown[i]->name;
		widths[i] = strlen(heads[i]);
		right[i] = nr_rows > 0;
		for (j = 0; j < nr_rows; j++) {
			const char *text = rows[j].cells[i];

			if (strlen(text) > widths[i])
				widths[i] = strlen(text);
			right[i] &= is_number(text) || !strcmp(text, "-");
		}
	}
	print_row(heads, widths, right, nr);
	for (j = 0; j < nr_rows; j++)
		print_row(rows[j].cells, widths, right, nr);
}

/* One cell more than is shown: what is sorted by. */
static struct row make_row(const char *name, const json_t *cache,
			   const struct column *const *shown, size_t nr,
			   const struct column *sort)
{
	struct row row = { calloc(nr + 1, sizeof(char *)), NULL };
	size_t i;

	if (!row.cells)
		abort();
	for (i = 0; i < nr; i++)
		row.cells[i] = cell(shown[i], name, cache);
	row.cells[nr] = cell(sort, name, cache);
	row.key = row.cells[nr];
	return row;
}

static void print_table(const json_t *caches, const struct column *const *shown,
			size_t nr, const struct column *sort)
{
	struct row *rows = calloc(json_object_size(caches) + 1, sizeof(*rows));
	size_t nr_rows = 0, i;
	const char *name;
	json_t *cache;

	if (!rows)
		abort();
	json_object_foreach((json_t *)caches, name, cache)
		rows[nr_rows++] = make_row(name, cache, shown, nr, sort);
	qsort(rows, nr_rows, sizeof(*rows), compare_rows);
	print_rows(rows, nr_rows, shown, nr);
	while (nr_rows--) {
		for (i = 0; i <= nr; i++)
			free(rows[nr_rows].cells[i]);
		free(rows[nr_rows].cells);
	}
	free(rows);
}

static size_t parse_columns(char *list, const struct column **shown)
{
	char *name, *rest = NULL;
	size_t nr = 0;

	for (name = strtok_r(list, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		if (nr == ARRAY_SIZE(columns)) {
			complain("list: too many columns");
			return 0;
		}
		shown[nr] = find_column(name);
		if (!shown[nr++])
			return 0;
	}
	if (!nr)
		complain("list: --columns takes names, separated by commas");
	return nr;
}

struct list_options {
	const char *filter, *sort;
	char *columns;
	bool json;
};

static bool parse_list(int argc, char **argv, struct list_options *options)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "sort", required_argument, NULL, 's' },
		{ "filter", required_argument, NULL, 'f' },
		{ "columns", required_argument, NULL, 'c' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "js:f:c:", longs, NULL)) >= 0) {
		switch (c) {
		case 'j':
			options->json = true;
			break;
		case 's':
			options->sort = optarg;
			break;
		case 'f':
			options->filter = optarg;
			break;
		case 'c':
			options->columns = optarg;
			break;
		default:
			return false;
		}
	}
	if (optind < argc)
		complain("list: unexpected '%s'; did you mean --filter '%s'?",
			 argv[optind], argv[optind]);
	return optind == argc;
}

int cmd_list(int argc, char **argv)
{
	char usual[] = DEFAULT_COLUMNS;
	struct list_options options = { "*", "cache", usual, false };
	const struct column *shown[ARRAY_SIZE(columns)], *sort;
	json_t *root;
	size_t nr;

	if (!parse_list(argc, argv, &options))
		return EXIT_USAGE;
	nr = parse_columns(options.columns, shown);
	sort = nr ? find_column(options.sort) : NULL;
	if (!sort)
		return EXIT_USAGE;
	if (!tree_present())
		return EXIT_NONE;
	root = snapshot(options.filter);
	if (options.json) {
		json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else {
		print_table(json_object_get(root, "caches"), shown, nr, sort);
	}
	snapshot_hint();
	json_decref(root);
	return EXIT_OK;
}

static void print_object(const json_t *object, const char *prefix)
{
	const char *key;
	json_t *value;
	void *iter;

	/* in the order of the alphabet, policies and stats apart */
	for (iter = json_object_iter((json_t *)object); iter;
	     iter = json_object_iter_next((json_t *)object, iter)) {
		char *text;

		key = json_object_iter_key(iter);
		value = json_object_iter_value(iter);
		if (json_is_object(value))
			continue;
		text = text_of(value);
		printf("%s%-22s %s\n", prefix, key, text);
		free(text);
	}
}

/* Show all about a cache: its files, and then the counts. */
void show_folder(const char *name, const json_t *folder)
{
	json_t *copy = json_sorted(folder);

	printf("%s\n", name);
	print_object(copy, "  ");
	printf("  stats:\n");
	print_object(json_object_get(copy, "stats"), "    ");
	snapshot_hint();
	json_decref(copy);
}

int cmd_show(int argc, char **argv)
{
	size_t nr;
	char **names;
	json_t *cache;

	if (argc != 2) {
		complain("show takes one CACHE; hslabctl list shows them");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	cache = snapshot_cache(argv[1]);
	if (!tree_is_name(argv[1]) || !json_object_size(cache)) {
		names = tree_caches("*", &nr);
		complain_unknown("no cache", argv[1],
				 (const char *const *)names, nr, "");
		tree_free_names(names, nr);
		json_decref(cache);
		return EXIT_USAGE;
	}
	show_folder(argv[1], cache);
	json_decref(cache);
	return EXIT_OK;
}
