// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_usercopy: copies between an object of hslab and a process, as a driver
 * would, so that CONFIG_HARDENED_USERCOPY has its say.
 *
 * A copy that is refused ends in BUG(), which kills the caller where it is. So the
 * copies are made by a device, whose read() and write() hold nothing while they
 * copy: /dev/hslab_usercopy is the object held, offset by offset, and goes on
 * behind its end, over hslab's tag. /sys/kernel/debug/hslab_usercopy:
 *
 *	run	"hold CACHE": allocate an object, and fill it with 0xa5;
 *		"free": free it; "kernel": is there CONFIG_HARDENED_USERCOPY?
 *	result	of "free": how many bytes were changed, and which is the first
 *
 * CACHE is one of the module's, or hslab-256 for hslab_kmalloc(256).
 */
#include <linux/fs.h>
#include <linux/hslab.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "command.h"

#define USERCOPY_SIZE	200
#define USERCOPY_ODD	61
#define USERCOPY_DIRT	0xa5
#define USERCOPY_BEHIND	16	/* bytes: padding, tag, and not yet the next object */

struct usercopy_cache {
	const char *name;
	unsigned int size;
	struct hslab_args args;
	struct hslab_cache *cache;	/* NULL: hslab_kmalloc() */
};

static struct usercopy_cache usercopy_caches[] = {
	{ .name = "usercopy-middle", .size = USERCOPY_SIZE,
	  .args = { .useroffset = 40, .usersize = 64 } },
	{ .name = "usercopy-end", .size = USERCOPY_SIZE,
	  .args = { .useroffset = 136, .usersize = 64 } },
	{ .name = "usercopy-odd", .size = USERCOPY_ODD,
	  .args = { .usersize = USERCOPY_ODD } },
	{ .name = "usercopy-none", .size = USERCOPY_SIZE },
	{ .name = "hslab-256", .size = 256 },
};

/* The last is hslab's own. */
#define USERCOPY_NR	(ARRAY_SIZE(usercopy_caches) - 1)

/*
 * Protects what follows. The device reads it without: the object stays as long
 * as the device is open.
 */
static DEFINE_MUTEX(usercopy_mutex);
static const struct usercopy_cache *usercopy_from;
static u8 *usercopy_object;		/* NULL: none is held */
static unsigned int usercopy_open_files;
static char usercopy_result[64];

/*
 * DEVICE
 */
static int usercopy_open(struct inode *inode, struct file *file)
{
	int err = 0;

	mutex_lock(&usercopy_mutex);
	if (usercopy_object)
		usercopy_open_files++;
	else
		err = -ENXIO;
	mutex_unlock(&usercopy_mutex);
	return err;
}

static int usercopy_release(struct inode *inode, struct file *file)
{
	mutex_lock(&usercopy_mutex);
	usercopy_open_files--;
	mutex_unlock(&usercopy_mutex);
	return 0;
}

static bool usercopy_in_reach(loff_t pos, size_t count)
{
	size_t reach = usercopy_from->size + USERCOPY_BEHIND;

	return pos >= 0 && pos <= reach && count <= reach - pos;
}

static ssize_t usercopy_read(struct file *file, char __user *ubuf, size_t count,
			     loff_t *pos)
{
	if (!usercopy_in_reach(*pos, count))
		return -EINVAL;
	if (copy_to_user(ubuf, usercopy_object + *pos, count))
		return -EFAULT;
	*pos += count;
	return count;
}

static ssize_t usercopy_write(struct file *file, const char __user *ubuf,
			      size_t count, loff_t *pos)
{
	if (!usercopy_in_reach(*pos, count))
		return -EINVAL;
	if (copy_from_user(usercopy_object + *pos, ubuf, count))
		return -EFAULT;
	*pos += count;
	return count;
}

static const struct file_operations usercopy_fops = {
	.owner		= THIS_MODULE,
	.open		= usercopy_open,
	.release	= usercopy_release,
	.read		= usercopy_read,
	.write		= usercopy_write,
	.llseek		= default_llseek,
};

static struct miscdevice usercopy_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "hslab_usercopy",
	.fops	= &usercopy_fops,
	.mode	= 0600,
};

/*
 * COMMANDS
 */
static int usercopy_hold(const char *name)
{
	const struct usercopy_cache *c = usercopy_caches;
	unsigned int i;

	lockdep_assert_held(&usercopy_mutex);

	if (usercopy_object)
		return -EBUSY;
	for (i = 0; i < ARRAY_SIZE(usercopy_caches); i++, c++) {
		if (strcmp(name, c->name))
			continue;
		usercopy_object = c->cache ? hslab_alloc(c->cache, GFP_KERNEL) :
					     hslab_kmalloc(c->size, GFP_KERNEL);
		if (!usercopy_object)
			return -ENOMEM;
		memset(usercopy_object, USERCOPY_DIRT, c->size);
		usercopy_from = c;
		return 0;
	}
	return -EINVAL;
}

static int usercopy_free(void)
{
	unsigned int i, changed = 0, first = 0;

	lockdep_assert_held(&usercopy_mutex);

	if (!usercopy_object)
		return -ENXIO;
	if (usercopy_open_files)
		return -EBUSY;
	for (i = usercopy_from->size; i--;) {
		if (usercopy_object[i] != USERCOPY_DIRT) {
			changed++;
			first = i;
		}
	}
	if (usercopy_from->cache)
		hslab_free(usercopy_from->cache, usercopy_object);
	else
		hslab_kfree(usercopy_object);
	usercopy_object = NULL;
	scnprintf(usercopy_result, sizeof(usercopy_result),
		  "changed=%u first=%u", changed, first);
	return 0;
}

static int usercopy_request(char *line)
{
	char *name = strsep(&line, " ");

	usercopy_result[0] = '\0';
	if (line)
		return strcmp(name, "hold") ? -EINVAL : usercopy_hold(line);
	if (!strcmp(name, "free"))
		return usercopy_free();
	if (strcmp(name, "kernel"))
		return -EINVAL;
	scnprintf(usercopy_result, sizeof(usercopy_result), "hardened=%d",
		  IS_ENABLED(CONFIG_HARDENED_USERCOPY));
	return 0;
}

static const struct command usercopy_command = {
	.run	= usercopy_request,
	.mutex	= &usercopy_mutex,
	.result	= usercopy_result,
};

static struct dentry *usercopy_debugfs;

static void usercopy_destroy(void)
{
	unsigned int i;

	for (i = 0; i < USERCOPY_NR; i++)
		hslab_cache_destroy(usercopy_caches[i].cache);
}

static int __init usercopy_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < USERCOPY_NR; i++) {
		struct usercopy_cache *c = &usercopy_caches[i];
		struct hslab_cache *cache;

		cache = hslab_cache_create(c->name, c->size, &c->args);
		if (IS_ERR(cache)) {
			err = PTR_ERR(cache);
			goto destroy;
		}
		c->cache = cache;
	}
	err = misc_register(&usercopy_device);
	if (err)
		goto destroy;
	usercopy_debugfs = command_create("hslab_usercopy", &usercopy_command);
	return 0;

destroy:
	usercopy_destroy();
	return err;
}

static void __exit usercopy_exit(void)
{
	debugfs_remove_recursive(usercopy_debugfs);
	misc_deregister(&usercopy_device);
	mutex_lock(&usercopy_mutex);
	usercopy_free();
	mutex_unlock(&usercopy_mutex);
	usercopy_destroy();
}

module_init(usercopy_init);
module_exit(usercopy_exit);

MODULE_DESCRIPTION("Copies between hslab's objects and processes; for tests");
MODULE_LICENSE("GPL");
