#ifndef BTZ_DRIVE_DRIVE_INT_H
#define BTZ_DRIVE_DRIVE_INT_H

#include "base/step.h"
#include "llm/endpoint.h"
#include "net/loop.h"

struct btz_drive {
    struct btz_net_loop *loop;
};

/* runner.c: what a model client's answer is to a step machine. */
enum btz_answer_status drive_status(enum btz_llm_status status);

#endif
