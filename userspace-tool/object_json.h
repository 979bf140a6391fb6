/* SPDX-License-Identifier: MIT */
/*
 * object_json.h - all there is to know about a listener, channel or link, as JSON
 */
#ifndef OBJECT_JSON_H
#define OBJECT_JSON_H

#include <librdmachan.h>

#include "json.h"

void object_json(const struct rdmachan_object *object, struct json *json);

#endif /* OBJECT_JSON_H */
