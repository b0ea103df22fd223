/* One field of CSV, as every table and listing of the program writes it. */
#ifndef BTZ_REPORT_CSV_H
#define BTZ_REPORT_CSV_H

#include "base/buf.h"
#include "base/str.h"

/* Adds `text` as a field: quoted as RFC 4180 says where it must be. What steers a terminal is made
 * visible and harmless as on the screen, newlines stay; a text that a spreadsheet would take for a
 * formula (=, +, - or @ before more) gets an apostrophe in front. The comma is the caller's. */
void btz_csv_add(struct btz_buf *out, struct btz_str text);

#endif
