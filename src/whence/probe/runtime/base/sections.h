/* Included before every file of the runtime. Its variables lie behind those of the subject, in sections that linkers put
   at the end: what runs over the end of the subject's last variable must find there what it finds in the plain program. */
#pragma clang section data = ".ldata.whence" bss = ".lbss.whence"
