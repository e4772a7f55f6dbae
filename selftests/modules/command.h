/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a test module takes commands: two files in a folder of debugfs.
 *
 *	run	takes a line, and fails with what the command returns
 *	result	what the last command found out, for those who have results
 */
#ifndef HSLAB_TEST_COMMAND_H
#define HSLAB_TEST_COMMAND_H

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

struct command {
	int (*run)(char *line);		/* under the mutex; no blanks around the line */
	struct mutex *mutex;
	const char *result;		/* read under the mutex; NULL: no such file */
};

static ssize_t command_run_write(struct file *file, const char __user *ubuf,
				 size_t count, loff_t *pos)
{
	const struct command *command = file->private_data;
	char *line;
	int err;

	if (count > PAGE_SIZE)
		return -EINVAL;
	line = memdup_user_nul(ubuf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(command->mutex);
	err = command->run(strim(line));
	mutex_unlock(command->mutex);
	kfree(line);
	return err ? err : count;
}

static const struct file_operations command_run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= command_run_write,
	.llseek	= noop_llseek,
};

static int command_result_show(struct seq_file *seq, void *unused)
{
	const struct command *command = seq->private;

	mutex_lock(command->mutex);
	seq_printf(seq, "%s\n", command->result);
	mutex_unlock(command->mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(command_result);

/* The folder @name, to be removed with debugfs_remove_recursive(). */
static inline struct dentry *command_create(const char *name,
					    const struct command *command)
{
	struct dentry *dir = debugfs_create_dir(name, NULL);

	debugfs_create_file("run", 0200, dir, (void *)command,
			    &command_run_fops);
	if (command->result)
		debugfs_create_file("result", 0400, dir, (void *)command,
				    &command_result_fops);
	return dir;
}

#endif /* HSLAB_TEST_COMMAND_H */
