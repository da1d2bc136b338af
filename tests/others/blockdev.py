#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# blockdev DEVICE: what udisks, Cockpit and Anaconda ask of libblockdev, by libblockdev itself.
import sys
import gi
gi.require_version('BlockDev', '2.0')
from gi.repository import BlockDev
plugin = BlockDev.PluginSpec()
plugin.name, plugin.so_name = BlockDev.Plugin.FS, 'libbd_fs.so.2'
BlockDev.switch_init_checks(False)
BlockDev.init([plugin], None)
device = sys.argv[1]

def show():
    info = BlockDev.fs_vfat_get_info(device)
    print(info.label, info.uuid, info.cluster_size, info.cluster_count, info.free_cluster_count)

print(BlockDev.fs_vfat_mkfs(device, [BlockDev.ExtraArg.new('-n', 'FROMBD')]))
show()
print(BlockDev.fs_vfat_check(device), BlockDev.fs_vfat_repair(device), BlockDev.fs_vfat_set_label(device, 'other'))
show()
print(BlockDev.fs_vfat_set_label(device, ''))
show()
print(BlockDev.fs_vfat_wipe(device))
