/* SPDX-License-Identifier: MIT */
/* main: mkfs.fat as a program; all of it is in the archive, so that tests can run it in process. */
#include "mkfs.h"

int main(int argc, char **argv)
{
	return mkfs_main(argc, argv);
}
