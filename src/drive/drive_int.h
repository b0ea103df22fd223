#ifndef BTZ_DRIVE_DRIVE_INT_H
#define BTZ_DRIVE_DRIVE_INT_H

#include "net/loop.h"

struct btz_drive {
    struct btz_net_loop *loop;
};

#endif
