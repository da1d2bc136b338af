/* SPDX-License-Identifier: MIT */
/*
 * host: what is made of sysfs and procfs, on trees of our own in a temporary folder; of a disk with
 * two partitions, a card, a USB stick; and what is said where there is no /sys and no /proc.
 */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host.h"

static char dir[TEMP_PATH_BYTES], sys[TEMP_PATH_BYTES], proc[TEMP_PATH_BYTES];
static const struct host_roots roots = { sys, proc };

#define STICK "sys/devices/pci0000:00/usb1/1-2"
#define LUN   STICK "/1-2:1.0/host6/target6:0:0/6:0:0:0"
#define SDB   LUN "/block/sdb"
#define CARD  "sys/devices/platform/mmc0/mmc0:aaaa"

/* dir/sys/dev/block/8:17 and dir/sys/block/sdb lead to the device's folder, as in the kernel's. */
static void add_block(const char *folder, const char *number, const char *name)
{
	char file[TEMP_PATH_BYTES], link[TEMP_PATH_BYTES], value[64];

	snprintf(file, sizeof file, "%s/dev", folder);
	snprintf(value, sizeof value, "%s\n", number);
	temp_write(dir, file, value);
	snprintf(link, sizeof link, "sys/dev/block/%s", number);
	temp_link(dir, link, folder);
	if (name) {
		snprintf(link, sizeof link, "sys/block/%s", name);
		temp_link(dir, link, folder);
	}
}

static void add_stick(void)
{
	temp_write(dir, STICK "/idVendor", "0781\n");
	temp_write(dir, STICK "/manufacturer", "SanDisk\n");
	temp_write(dir, STICK "/serial", "4C530001\n");
	add_block(SDB, "8:16", "sdb");
	temp_write(dir, SDB "/size", "7821312\n");
	temp_write(dir, SDB "/removable", "1\n");
	temp_write(dir, SDB "/ro", "0\n");
	temp_write(dir, SDB "/queue/rotational", "1\n");
	temp_write(dir, SDB "/queue/logical_block_size", "512\n");
	temp_write(dir, SDB "/queue/physical_block_size", "4096\n");
	temp_write(dir, SDB "/queue/optimal_io_size", "33553920\n");
	temp_write(dir, SDB "/queue/max_sectors_kb", "120\n");
	temp_write(dir, SDB "/queue/write_cache", "write through\n");
	temp_write(dir, SDB "/queue/discard_granularity", "4194304\n");
	temp_link(dir, SDB "/device", LUN);
	temp_write(dir, LUN "/model", "Cruzer Blade    \n");
	add_block(SDB "/sdb1", "8:17", NULL);
	temp_write(dir, SDB "/sdb1/partition", "1\n");
	temp_write(dir, SDB "/sdb1/start", "63\n");
	temp_write(dir, SDB "/sdb1/size", "2048000\n");
	temp_write(dir, SDB "/sdb1/ro", "0\n");
	temp_write(dir, SDB "/sdb1/alignment_offset", "-1\n");
	add_block(SDB "/sdb2", "8:18", NULL);
	temp_write(dir, SDB "/sdb2/partition", "2\n");
}

static void add_card(void)
{
	add_block(CARD "/block/mmcblk0", "179:0", "mmcblk0");
	temp_write(dir, CARD "/block/mmcblk0/size", "15523840\n");
	temp_link(dir, CARD "/block/mmcblk0/device", CARD);
	temp_write(dir, CARD "/preferred_erase_size", "4194304\n");
	temp_write(dir, CARD "/manfid", "0x000003\n");
	temp_write(dir, CARD "/oemid", "0x5344\n");
	temp_write(dir, CARD "/type", "SD\n");
	temp_write(dir, CARD "/name", "SL08G\n");
	temp_write(dir, CARD "/serial", "0x12345678\n");
	add_block(CARD "/block/mmcblk0/mmcblk0p1", "179:1", NULL);
	temp_write(dir, CARD "/block/mmcblk0/mmcblk0p1/partition", "1\n");
}

static int set_up(void **state)
{
	(void)state;
	temp_make(dir);
	snprintf(sys, sizeof sys, "%.200s/sys", dir);
	snprintf(proc, sizeof proc, "%.200s/proc", dir);
	temp_write(dir, "proc/self/mountinfo",
		   "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n");
	temp_write(dir, "proc/swaps", "Filename Type Size Used Priority\n");
	add_block("sys/devices/virtual/block/vda", "254:0", "vda");
	add_stick();
	add_card();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	temp_remove(dir);
	return 0;
}

static struct host_target block(unsigned major_no, unsigned minor_no)
{
	return (struct host_target){ .path = "/dev/x",
				     .kind = HOST_BLOCK,
				     .number = makedev(major_no, minor_no) };
}

static void set_mounts(const char *line)
{
	char text[1024];

	snprintf(text, sizeof text, "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n%s\n",
		 line);
	temp_write(dir, "proc/self/mountinfo", text);
}

/* ---- mounts and holders -------------------------------------------------------------------- */

static void what_is_not_in_use_is_free(void **state)
{
	struct host_target target = block(8, 16);
	struct host_use use;
	char text[300];

	(void)state;
	assert_int_equal(host_mount_find(&roots, &target, &use), HOST_NO);
	assert_int_equal(host_use_find(&roots, &target, &use), HOST_NO);
	assert_int_equal(use.kind, HOST_USE_NONE);
	assert_string_equal(host_use_text(&use, text, sizeof text), "not in use");
}

static void a_mount_is_found_by_number(void **state)
{
	struct host_target target = block(8, 17);
	struct host_use use;
	char text[300];

	(void)state;
	set_mounts("30 22 8:17 / /media/a\\040b\\134c rw shared:5 master:2 - vfat /dev/disk/x rw");
	assert_int_equal(host_mount_find(&roots, &target, &use), HOST_YES);
	assert_int_equal(use.kind, HOST_USE_MOUNTED);
	assert_string_equal(use.by, "/media/a b\\c");
	assert_string_equal(host_use_text(&use, text, sizeof text), "mounted at /media/a b\\c");
	set_mounts("30 22 8:17 / /mnt rw - vfat /dev/sdb1 rw"); /* no optional field */
	assert_int_equal(host_mount_find(&roots, &target, &use), HOST_YES);
	assert_string_equal(use.by, "/mnt");
}

static void odd_lines_of_mounts_are_passed_over(void **state)
{
	struct host_target target = block(8, 17);
	struct host_use use;

	(void)state;
	set_mounts("\n30\n30 22\n30 22 8:17\n30 22 x:y / /mnt rw - vfat s rw\n"
		   "30 22 8:17 / /mnt rw");
	assert_int_equal(host_mount_find(&roots, &target, &use), HOST_NO);
	set_mounts("30 22 8:17 / /mnt rw -\nx\n31 22 8:17 / /mnt2 rw - vfat");
	assert_int_equal(host_use_find(&roots, &target, &use), HOST_YES);
	assert_string_equal(use.by, "/mnt2");
}

static void a_mounted_partition_makes_its_disk_busy(void **state)
{
	struct host_target disk = block(8, 16), part = block(8, 17), other = block(8, 18);
	struct host_use use;
	char text[300];

	(void)state;
	set_mounts("30 22 8:17 / /mnt rw - vfat /dev/sdb1 rw");
	assert_int_equal(host_mount_find(&roots, &disk, &use), HOST_NO);
	assert_int_equal(host_use_find(&roots, &disk, &use), HOST_YES);
	assert_string_equal(host_use_text(&use, text, sizeof text), "mounted at /mnt (sdb1)");
	assert_int_equal(host_use_find(&roots, &part, &use), HOST_YES);
	assert_string_equal(host_use_text(&use, text, sizeof text), "mounted at /mnt");
	assert_int_equal(host_use_find(&roots, &other, &use), HOST_NO);
}

static void a_mounted_disk_makes_its_partitions_busy(void **state)
{
	struct host_target part = block(8, 17);
	struct host_use use;

	(void)state;
	set_mounts("30 22 8:16 / /mnt rw - vfat /dev/sdb rw");
	assert_int_equal(host_use_find(&roots, &part, &use), HOST_YES);
	assert_string_equal(use.device, "sdb");
}

static void a_holder_is_named(void **state)
{
	struct host_target disk = block(8, 16), part = block(8, 18);
	struct host_use use;
	char text[300];

	(void)state;
	temp_write(dir, SDB "/sdb2/holders/dm-3", "");
	assert_int_equal(host_use_find(&roots, &part, &use), HOST_YES);
	assert_string_equal(host_use_text(&use, text, sizeof text), "held by dm-3");
	assert_int_equal(host_use_find(&roots, &disk, &use), HOST_YES);
	assert_string_equal(host_use_text(&use, text, sizeof text), "held by dm-3 (sdb2)");
	set_mounts("30 22 8:17 / /mnt rw - vfat /dev/sdb1 rw"); /* the graver use is named */
	assert_int_equal(host_use_find(&roots, &disk, &use), HOST_YES);
	assert_int_equal(use.kind, HOST_USE_MOUNTED);
}

/* An image file that a loop device has as its backing file. */
static struct host_target attach_image(void)
{
	struct host_target image;
	char value[TEMP_PATH_BYTES];

	temp_write(dir, "card.img", "x");
	add_block("sys/devices/virtual/block/loop5", "7:5", "loop5");
	snprintf(value, sizeof value, "%.200s/card.img\n", dir);
	temp_write(dir, "sys/devices/virtual/block/loop5/loop/backing_file", value);
	add_block("sys/devices/virtual/block/loop5/loop5p1", "259:0", NULL);
	temp_write(dir, "sys/devices/virtual/block/loop5/loop5p1/partition", "1\n");
	assert_int_equal(host_target_init(&image, temp_path(dir, "card.img")), 0);
	assert_int_equal(image.kind, HOST_FILE);
	return image;
}

static void an_image_is_in_use_through_its_loop_device(void **state)
{
	struct host_target image = attach_image();
	struct host_use use;
	char text[300];

	(void)state;
	assert_int_equal(host_mount_find(&roots, &image, &use), HOST_NO);
	assert_int_equal(host_use_find(&roots, &image, &use), HOST_YES);
	assert_string_equal(host_use_text(&use, text, sizeof text),
			    "attached to loop device loop5");
	set_mounts("30 22 7:5 / /mnt rw - vfat /dev/loop5 rw");
	assert_int_equal(host_mount_find(&roots, &image, &use), HOST_YES);
	assert_string_equal(host_use_text(&use, text, sizeof text), "mounted at /mnt (loop5)");
	set_mounts("30 22 259:0 / /mnt rw - vfat /dev/loop5p1 rw");
	assert_int_equal(host_mount_find(&roots, &image, &use), HOST_YES);
	assert_string_equal(use.device, "loop5p1");
	assert_int_equal(host_use_find(&roots, &image, &use), HOST_YES);
	assert_int_equal(use.kind, HOST_USE_MOUNTED);
	temp_write(dir, "other.img", "x");
	assert_int_equal(host_target_init(&image, temp_path(dir, "other.img")), 0);
	assert_int_equal(host_use_find(&roots, &image, &use), HOST_NO);
}

static void the_systems_disk_is_known_through_what_it_is_made_of(void **state)
{
	struct host_target vda = block(254, 0), stick = block(8, 16), other = block(8, 18);

	(void)state;
	assert_int_equal(host_on_system_disk(&roots, &vda), HOST_YES);
	assert_int_equal(host_on_system_disk(&roots, &stick), HOST_NO);
	add_block("sys/devices/virtual/block/dm-0", "253:0", "dm-0");
	temp_link(dir, "sys/devices/virtual/block/dm-0/slaves/sdb1", SDB "/sdb1");
	temp_write(dir, "proc/self/mountinfo", "22 1 253:0 / / rw - ext4 /dev/mapper/root rw\n");
	assert_int_equal(host_on_system_disk(&roots, &stick), HOST_YES);
	assert_int_equal(host_on_system_disk(&roots, &other), HOST_YES);
	assert_int_equal(host_on_system_disk(&roots, &vda), HOST_NO);
	temp_write(dir, "proc/self/mountinfo", "22 1 0:44 / / rw - overlay overlay rw\n");
	assert_int_equal(host_on_system_disk(&roots, &stick), HOST_UNKNOWN);
}

/* ---- topology, flash, identity --------------------------------------------------------------- */

static void topology_of_a_disk(void **state)
{
	struct host_target target = block(8, 16);
	struct host_topology t;

	(void)state;
	assert_int_equal(host_topology_read(&roots, &target, &t), HOST_YES);
	assert_string_equal(t.name, "sdb");
	assert_string_equal(t.disk, "sdb");
	assert_string_equal(t.driver, "usb");
	assert_false(t.is_partition);
	assert_true(t.n_partitions > 0);
	assert_true(t.size_bytes == 7821312ull * 512 && t.disk_bytes == t.size_bytes);
	assert_int_equal(t.logical_block_bytes, 512);
	assert_int_equal(t.physical_block_bytes, 4096);
	assert_int_equal(t.optimal_io_bytes, 33553920);
	assert_int_equal(t.minimum_io_bytes, 0); /* not there */
	assert_int_equal(t.max_request_bytes, 120 * 1024);
	assert_int_equal(t.discard_granularity_bytes, 4u << 20);
	assert_int_equal(t.rotational, HOST_YES);
	assert_int_equal(t.removable, HOST_YES);
	assert_int_equal(t.read_only, HOST_NO);
	assert_int_equal(t.write_cache, HOST_NO);
}

static void topology_of_a_partition(void **state)
{
	struct host_target target = block(8, 17);
	struct host_topology t;

	(void)state;
	assert_int_equal(host_topology_read(&roots, &target, &t), HOST_YES);
	assert_string_equal(t.name, "sdb1");
	assert_string_equal(t.disk, "sdb");
	assert_true(t.is_partition);
	assert_int_equal(t.n_partitions, 0);
	assert_int_equal(t.part_start_bytes, 63 * 512);
	assert_int_equal(t.alignment_off, -1);
	assert_true(t.size_bytes == 2048000ull * 512 && t.disk_bytes == 7821312ull * 512);
	assert_int_equal(t.logical_block_bytes, 512); /* the disk's */
}

static void numbers_that_are_none_are_unknown(void **state)
{
	struct host_target target = block(8, 16);
	struct host_topology t;

	(void)state;
	temp_write(dir, SDB "/queue/max_sectors_kb", "99999999999999999999\n");
	temp_write(dir, SDB "/queue/logical_block_size", "-512\n");
	temp_write(dir, SDB "/queue/physical_block_size", "4294967296\n");
	temp_write(dir, SDB "/size", "99999999999999999\n");
	temp_write(dir, SDB "/ro", "");
	temp_write(dir, SDB "/removable", "maybe\n");
	assert_int_equal(host_topology_read(&roots, &target, &t), HOST_YES);
	assert_int_equal(t.max_request_bytes, 0);
	assert_int_equal(t.logical_block_bytes, 0);
	assert_int_equal(t.physical_block_bytes, 0);
	assert_int_equal(t.size_bytes, 0);
	assert_int_equal(t.read_only, HOST_UNKNOWN);
	assert_int_equal(t.removable, HOST_UNKNOWN);
}

static void a_device_that_sysfs_has_not(void **state)
{
	struct host_target target = block(250, 77);
	struct host_topology t;
	struct host_flash flash;
	struct host_identity id;

	(void)state;
	assert_int_equal(host_topology_read(&roots, &target, &t), HOST_NO);
	assert_int_equal(host_flash_read(&roots, &target, &flash), HOST_UNKNOWN);
	assert_int_equal(host_identity_read(&roots, &target, &id), HOST_UNKNOWN);
	assert_string_equal(t.name, "");
}

/* An SD status with AU_SIZE 9 (4 MiB), class 10 (code 4), UHS_AU_SIZE 12 (16 MiB). */
static void make_ssr(char hex[130])
{
	memset(hex, '0', 128);
	memcpy(hex + 2 * 8, "04", 2);
	memcpy(hex + 2 * 10, "90", 2);
	memcpy(hex + 2 * 14, "1C", 2);
	hex[128] = '\0';
}

static void a_cards_own_word_on_its_units(void **state)
{
	struct host_target card = block(179, 0), part = block(179, 1), stick = block(8, 17);
	struct host_flash flash;
	char ssr[130];

	(void)state;
	assert_int_equal(host_flash_read(&roots, &card, &flash), HOST_YES);
	assert_int_equal(flash.preferred_erase_bytes, 4u << 20);
	assert_int_equal(flash.au_bytes, 0); /* the kernel's number is no word of the card's */
	assert_int_equal(flash.manufacturer_id, 3);
	assert_int_equal(flash.oem_id, 0x5344);
	assert_string_equal(flash.name, "SL08G");
	assert_string_equal(flash.serial, "0x12345678");
	make_ssr(ssr);
	temp_write(dir, CARD "/ssr", strcat(ssr, "\n"));
	assert_int_equal(host_flash_read(&roots, &part, &flash), HOST_YES);
	assert_int_equal(flash.au_bytes, 4u << 20);
	assert_int_equal(flash.uhs_au_bytes, 16u << 20);
	assert_int_equal(flash.speed_class, 10);
	assert_int_equal(host_flash_read(&roots, &stick, &flash), HOST_NO);
	assert_int_equal(flash.is_mmc, HOST_NO);
}

static void units_that_are_no_powers_of_two(void **state)
{
	static const uint32_t kib[16] = { 0,    16,   32,   64,    128,   256,   512,   1024,
					  2048, 4096, 8192, 12288, 16384, 24576, 32768, 65536 };
	char ssr[130];

	(void)state;
	for (unsigned code = 0; code < 16; code++) {
		struct host_flash flash = { .is_mmc = HOST_YES };

		make_ssr(ssr);
		ssr[20] = "0123456789abcdef"[code];
		assert_true(host_flash_decode_ssr(ssr, &flash));
		assert_int_equal(flash.au_bytes, (uint64_t)kib[code] * 1024);
	}
}

static void a_register_that_is_none_is_refused(void **state)
{
	struct host_flash flash = { .is_mmc = HOST_YES };
	char ssr[130];

	(void)state;
	make_ssr(ssr);
	ssr[127] = '\0';
	assert_false(host_flash_decode_ssr(ssr, &flash));
	make_ssr(ssr);
	ssr[99] = 'g';
	assert_false(host_flash_decode_ssr(ssr, &flash));
	memset(ssr, '0', 128);
	assert_false(host_flash_decode_ssr(ssr, &flash));
	assert_false(host_flash_decode_ssr("", &flash));
	assert_int_equal(flash.au_bytes, 0);
}

static void identity_of_a_stick_and_a_card(void **state)
{
	struct host_target stick = block(8, 17), card = block(179, 1);
	struct host_identity id;

	(void)state;
	assert_int_equal(host_identity_read(&roots, &stick, &id), HOST_YES);
	assert_string_equal(id.bus, "usb");
	assert_string_equal(id.vendor, "SanDisk");
	assert_string_equal(id.model, "Cruzer Blade");
	assert_string_equal(id.serial, "4C530001");
	assert_int_equal(host_identity_read(&roots, &card, &id), HOST_YES);
	assert_string_equal(id.model, "SL08G");
	assert_string_equal(id.serial, "0x12345678");
}

/* ---- without /sys and /proc; the real system ------------------------------------------------- */

static void without_sys_and_proc_nothing_is_known(void **state)
{
	static const struct host_roots none = { "/nowhere/sys", "/nowhere/proc" };
	struct host_target target = block(8, 16);
	struct host_device device;
	struct host_use use;
	struct host_topology t;

	(void)state;
	assert_int_equal(host_mount_find(&none, &target, &use), HOST_UNKNOWN);
	assert_int_equal(host_use_find(&none, &target, &use), HOST_UNKNOWN);
	assert_int_equal(host_on_system_disk(&none, &target), HOST_UNKNOWN);
	assert_int_equal(host_topology_read(&none, &target, &t), HOST_UNKNOWN);
	temp_write(dir, "image", "x");
	host_device_read(&none, temp_path(dir, "image"), -1, &device);
	assert_int_equal(device.target.kind, HOST_FILE);
	assert_int_equal(device.in_use, HOST_UNKNOWN);
	assert_string_equal(device.topology.name, "");
	assert_int_equal(device.has_signature, HOST_UNKNOWN);
}

static void what_a_path_stands_for(void **state)
{
	struct host_target target;

	(void)state;
	assert_int_not_equal(host_target_init(&target, temp_path(dir, "none")), 0);
	assert_int_equal(target.kind, HOST_MISSING);
	assert_int_equal(host_target_init(&target, dir), 0);
	assert_int_equal(target.kind, HOST_OTHER);
	assert_int_equal(host_target_init(&target, "/dev/null"), 0);
	assert_int_equal(target.kind, HOST_OTHER);
}

static void the_real_system_is_read_without_harm(void **state)
{
	struct host_device device;

	(void)state;
	temp_write(dir, "image", "x");
	host_device_read(NULL, temp_path(dir, "image"), -1, &device);
	assert_int_equal(device.target.kind, HOST_FILE);
	assert_int_not_equal(device.in_use, HOST_YES);
}

/* Found by any of its four labels, though libblkid is not always asked about it. */
static void zfs_is_found_by_each_label(void **state)
{
	static const long kib = 1024, label_kib[] = { 0, 256, 130560, 130816 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct host_signature signature;
		int fd = open(temp_path(dir, "zfs"), O_CREAT | O_TRUNC | O_RDWR, 0600);
		enum host_answer answer;

		assert_int_equal(ftruncate(fd, 128 * 1024 * kib), 0);
		assert_int_equal(pwrite(fd, "\1\1\0\0", 4, (label_kib[i] + 16) * kib), 4);
		for (long k = 0; k < 8; k++) /* uberblocks */
			assert_int_equal(pwrite(fd, "\x0C\xB1\xBA\0\0\0\0\0", 8,
						(label_kib[i] + 128 + k) * kib), 8);
		answer = host_signature_read(fd, 0, 0, &signature);
		close(fd);
		if (answer == HOST_UNKNOWN)
			skip(); /* built without libblkid */
		assert_int_equal(answer, HOST_YES);
		assert_string_equal(signature.type, "zfs_member");
	}
}

static void an_xfs_log_is_found(void **state)
{
	/* A record of the log in its second block; in the first, the number of the round. */
	static const char record[] = "\xFE\xED\xBA\xBE\0\0\0\1\0\0\0\2\0\0\2\0\0\0\0\1\0\0\0\1";
	struct host_signature signature;
	int fd = open(temp_path(dir, "log"), O_CREAT | O_TRUNC | O_RDWR, 0600);
	enum host_answer answer;

	(void)state;
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(pwrite(fd, "\0\0\0\1", 4, 0), 4);
	assert_int_equal(pwrite(fd, record, sizeof record - 1, 512), sizeof record - 1);
	assert_int_equal(pwrite(fd, "\0\0\0\1", 4, 512 + 300), 4);
	answer = host_signature_read(fd, 0, 0, &signature);
	close(fd);
	if (answer == HOST_UNKNOWN)
		skip(); /* built without libblkid */
	assert_int_equal(answer, HOST_YES);
	assert_string_equal(signature.type, "xfs_external_log");
}

static void signatures_as_libblkid_sees_them(void **state)
{
	struct host_signature signature;
	const char *path = temp_path(dir, "blank");
	int fd = open(path, O_CREAT | O_RDWR, 0600);
	enum host_answer answer;

	(void)state;
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	answer = host_signature_read(fd, 0, 0, &signature);
	if (answer == HOST_UNKNOWN) {
		close(fd);
		skip(); /* built without libblkid */
	}
	assert_int_equal(answer, HOST_NO);
	/* an ext2 superblock's magic, and enough around it to be believed */
	assert_int_equal(pwrite(fd, "\x53\xEF\x01\0\x01\0", 6, 1024 + 56), 6);
	assert_int_equal(pwrite(fd, "\1\0\0\0", 4, 1024 + 76), 4);
	assert_int_equal(host_signature_read(fd, 0, 0, &signature), HOST_YES);
	assert_string_equal(signature.type, "ext2");
	assert_false(signature.is_fat || signature.is_table);
	assert_int_equal(host_signature_read(fd, 1 << 19, 0, &signature), HOST_NO);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_in_use_is_free),
		TEST(a_mount_is_found_by_number),
		TEST(odd_lines_of_mounts_are_passed_over),
		TEST(a_mounted_partition_makes_its_disk_busy),
		TEST(a_mounted_disk_makes_its_partitions_busy),
		TEST(a_holder_is_named),
		TEST(an_image_is_in_use_through_its_loop_device),
		TEST(the_systems_disk_is_known_through_what_it_is_made_of),
		TEST(topology_of_a_disk),
		TEST(topology_of_a_partition),
		TEST(numbers_that_are_none_are_unknown),
		TEST(a_device_that_sysfs_has_not),
		TEST(a_cards_own_word_on_its_units),
		TEST(units_that_are_no_powers_of_two),
		TEST(a_register_that_is_none_is_refused),
		TEST(identity_of_a_stick_and_a_card),
		TEST(without_sys_and_proc_nothing_is_known),
		TEST(what_a_path_stands_for),
		TEST(the_real_system_is_read_without_harm),
		TEST(signatures_as_libblkid_sees_them),
		TEST(zfs_is_found_by_each_label),
		TEST(an_xfs_log_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
