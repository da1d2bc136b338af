# What a release and a distribution need: a tarball, and a Debian package made from it.

# The same tree gives the same bytes: sorted, no owner, the time of the last commit.
DIST := fatwise-$(VERSION)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
.PHONY: dist
dist: man
	$(Q)[ -n "$(SOURCE_DATE_EPOCH)" ] || { echo "make dist: works in a git clone only" >&2; exit 1; }
	$(call say,DIST,build/$(DIST).tar.gz)
	$(Q)mkdir -p build && git ls-files -z | LC_ALL=C sort -z >build/$(DIST).files
	$(Q)tar --create --file=build/$(DIST).tar --format=ustar --no-recursion --mtime=@$(SOURCE_DATE_EPOCH) \
		--owner=0 --group=0 --numeric-owner --mode=u+rw,go-w,a+rX --transform='s,^,$(DIST)/,' \
		--null --files-from=build/$(DIST).files
	$(Q)gzip -n -9 -f build/$(DIST).tar && rm build/$(DIST).files

# build/deb: the package, its sources and what lintian looks at. DEB_BUILD_OPTIONS=nocheck skips the
# unit tests.
.PHONY: deb
deb: dist
	$(Q)rm -rf build/deb && mkdir -p build/deb
	$(Q)cp build/$(DIST).tar.gz build/deb/fatwise_$(VERSION).orig.tar.gz
	$(Q)tar -C build/deb -xf build/$(DIST).tar.gz
	$(Q)cp -r packaging/debian build/deb/$(DIST)/debian
	$(call say,DEB,build/deb)
	$(Q)cd build/deb/$(DIST) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS dpkg-buildpackage -us -uc \
		>../build.log 2>&1 || { tail -30 ../build.log >&2; exit 1; }
	$(Q)ls build/deb/*.deb
