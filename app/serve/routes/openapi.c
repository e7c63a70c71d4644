/*
 * GET /openapi.json: the table of routes as OpenAPI 3.1. If several learners are served, paths
 * for one of them begin with its name.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <retain.h>
#include "base/json_write.h"
#include "serve/exchange.h"

static const char HOLE[] = "{name}", VERSION[] = "{version}", ID[] = "{id}",
		  JSON_TYPE[] = "application/json";

/* What bodies look like, by the names that routes use. */
static const struct shape {
	const char *name, *schema;
} shapes[] = {
	{"Error", "{\"type\": \"object\", \"required\": [\"error\"], \"properties\": {\"error\": "
		  "{\"type\": "
		  "\"string\"}, \"id\": {\"$ref\": \"#/components/schemas/Id\"}, \"line\": "
		  "{\"type\": "
		  "\"integer\"}}}"},
	{"Id", "{\"type\": [\"string\", \"integer\"]}"},
	{"Class", "{\"type\": [\"string\", \"integer\", \"null\"], \"description\": \"null: "
		  "nothing is known "
		  "yet\"}"},
	{"Input", "{\"type\": [\"array\", \"object\"], \"description\": \"numbers, or fields with "
		  "names\"}"},
	{"Question", "{\"type\": \"object\", \"required\": [\"input\"], \"properties\": "
		     "{\"input\": {\"$ref\": "
		     "\"#/components/schemas/Input\"}, \"id\": {\"$ref\": "
		     "\"#/components/schemas/Id\"}, \"top\": "
		     "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100}, \"for\": "
		     "{\"enum\": [\"now\", \"ever\"]}, \"when\": {\"type\": [\"string\", "
		     "\"number\"], \"description\": \"a date, or seconds since 1970\"}}}"},
	{"Questions",
		"{\"oneOf\": [{\"$ref\": \"#/components/schemas/Question\"}, {\"type\": \"array\", "
		"\"minItems\": 1, \"items\": {\"$ref\": \"#/components/schemas/Question\"}}]}"},
	{"Number",
		"{\"description\": \"a number, null: nothing is known yet; of several at once a "
		"list, or an object by their names\", \"oneOf\": [{\"type\": [\"number\", "
		"\"null\"]}, {\"type\": \"array\", \"minItems\": 2, \"maxItems\": 64, \"items\": "
		"{\"type\": [\"number\", \"null\"]}}, {\"type\": \"object\", "
		"\"minProperties\": 2, \"maxProperties\": 64, \"additionalProperties\": "
		"{\"type\": [\"number\", \"null\"]}}]}"},
	{"Guess", "{\"description\": \"a class, or numbers with the bounds of their intervals "
		  "(model.target)\", \"anyOf\": [{\"type\": \"object\", \"required\": "
		  "[\"prediction\", \"probability\"], \"properties\": {\"prediction\": {\"$ref\": "
		  "\"#/components/schemas/Class\"}, \"probability\": {\"type\": [\"number\", "
		  "\"null\"]}}}, {\"type\": \"object\", \"required\": [\"prediction\", \"low\", "
		  "\"high\"], \"properties\": {\"prediction\": {\"$ref\": "
		  "\"#/components/schemas/Number\"}, \"low\": {\"$ref\": "
		  "\"#/components/schemas/Number\"}, \"high\": {\"$ref\": "
		  "\"#/components/schemas/Number\"}}}]}"},
	{"Prediction",
		"{\"allOf\": [{\"$ref\": \"#/components/schemas/Guess\"}, {\"type\": \"object\", "
		"\"properties\": {\"id\": {\"$ref\": \"#/components/schemas/Id\"}, \"top\": "
		"{\"type\": "
		"\"array\", \"items\": {\"$ref\": \"#/components/schemas/Guess\"}}}}]}"},
	{"Predictions", "{\"oneOf\": [{\"$ref\": \"#/components/schemas/Prediction\"}, {\"type\": "
			"\"array\", "
			"\"items\": {\"anyOf\": [{\"$ref\": \"#/components/schemas/Prediction\"}, "
			"{\"$ref\": \"#/components/schemas/Error\"}]}}]}"},
	{"Label", "{\"type\": \"object\", \"required\": [\"id\", \"label\"], \"properties\": "
		  "{\"id\": "
		  "{\"$ref\": \"#/components/schemas/Id\"}, \"label\": {\"anyOf\": [{\"type\": "
		  "[\"string\", \"integer\", \"boolean\"]}, {\"$ref\": "
		  "\"#/components/schemas/Number\"}]}, \"weight\": {\"type\": \"number\", "
		  "\"minimum\": 0, \"maximum\": 1000000, \"default\": 1}}}"},
	{"Labels", "{\"oneOf\": [{\"$ref\": \"#/components/schemas/Label\"}, {\"type\": \"array\", "
		   "\"items\": "
		   "{\"$ref\": \"#/components/schemas/Label\"}}]}"},
	{"Sample", "{\"type\": \"object\", \"required\": [\"id\", \"label\", \"sample\"], "
		   "\"properties\": "
		   "{\"id\": {\"$ref\": \"#/components/schemas/Id\"}, \"label\": {\"anyOf\": "
		   "[{\"$ref\": "
		   "\"#/components/schemas/Class\"}, {\"$ref\": "
		   "\"#/components/schemas/Number\"}]}, \"sample\": {\"type\": \"integer\"}}}"},
	{"Samples",
		"{\"oneOf\": [{\"$ref\": \"#/components/schemas/Sample\"}, {\"type\": \"array\", "
		"\"items\": {\"anyOf\": [{\"$ref\": \"#/components/schemas/Sample\"}, {\"$ref\": "
		"\"#/components/schemas/Error\"}]}}]}"},
	{"Done", "{\"type\": \"object\", \"required\": [\"done\"], \"properties\": {\"done\": "
		 "{\"type\": "
		 "\"string\"}}}"},
	{"Name", "{\"type\": \"object\", \"required\": [\"name\"], \"properties\": {\"name\": "
		 "{\"type\": \"string\", \"pattern\": \"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$\"}}}"},
	{"Version", "{\"type\": \"object\", \"required\": [\"name\"], "
		    "\"properties\": {\"name\": {\"type\": \"string\"}, \"made\": {\"type\": "
		    "\"string\", \"format\": \"date-time\"}, \"by\": {\"type\": \"string\"}, "
		    "\"samples\": {\"type\": \"integer\"}, \"iteration\": {\"type\": \"integer\"}, "
		    "\"classes\": {\"type\": \"integer\"}, \"inputs\": {\"type\": \"integer\"}, "
		    "\"le\": {\"type\": [\"number\", \"null\"]}, \"recent\": {\"type\": "
		    "[\"number\", \"null\"]}, \"bytes\": {\"type\": \"integer\"}, \"damaged\": "
		    "{\"type\": \"string\"}}}"},
	{"Serving", "{\"type\": \"object\", \"required\": [\"serving\", \"before\"], "
		    "\"properties\": {\"serving\": {\"type\": \"string\"}, \"why\": {\"type\": "
		    "\"string\"}, \"since\": {\"type\": \"integer\"}, \"change\": {\"type\": "
		    "\"integer\"}, \"before\": {\"type\": \"array\", \"items\": {\"type\": "
		    "\"string\"}}}}"},
	{"Versions", "{\"allOf\": [{\"$ref\": \"#/components/schemas/Serving\"}, {\"type\": "
		     "\"object\", \"required\": [\"versions\", \"contenders\"], \"properties\": "
		     "{\"contenders\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}, "
		     "\"versions\": "
		     "{\"type\": \"array\", \"items\": {\"$ref\": "
		     "\"#/components/schemas/Version\"}}}}]}"},
	{"Amended", "{\"type\": \"object\", \"required\": [\"samples\", \"waiting\"], "
		    "\"properties\": {\"samples\": {\"type\": \"integer\"}, \"waiting\": "
		    "{\"type\": \"integer\"}, \"versions_dropped\": {\"type\": \"integer\"}, "
		    "\"retrain_at_next_start\": {\"type\": \"boolean\"}}}"},
	{"Object", "{\"type\": \"object\"}"},
	{"Text", "{\"type\": \"string\"}"},
};

/* What a request may say beside its body. */
static const struct parameter {
	unsigned int flag;
	const char *name, *in, *about, *schema;
} params[] = {
	{ROUTE_WISH, "top", "query", "number of most probable classes to return",
		"{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100}"},
	{ROUTE_WISH, "for", "query", "what it is now, or of all that ever was",
		"{\"type\": \"string\", \"enum\": [\"now\", \"ever\"]}"},
	{ROUTE_PICTURE, "id", "query", "of a picture that is kept for its label",
		"{\"type\": \"string\"}"},
	{ROUTE_FROM, "from", "query", "the version to compare with", "{\"type\": \"string\"}"},
	{ROUTE_RETRAIN, "retrain", "query", "1: all samples are learned again at the next start",
		"{\"type\": \"string\", \"enum\": [\"0\", \"1\"]}"},
	{ROUTE_TIMES, "since", "query",
		"labels that came at this time or later: a date, or seconds since 1970",
		"{\"type\": \"string\"}"},
	{ROUTE_TIMES, "until", "query", "labels that came before this time",
		"{\"type\": \"string\"}"},
	{ROUTE_TIMES, "format", "query", "default: ndjson",
		"{\"type\": \"string\", \"enum\": [\"ndjson\", \"csv\", \"npz\"]}"},
	{ROUTE_EVENTS, "from", "query", "an event's id to go on behind; 0: all there are",
		"{\"type\": \"string\"}"},
	{ROUTE_EVENTS, "Last-Event-ID", "header", "the same, as browsers say it",
		"{\"type\": \"string\"}"},
	{ROUTE_TAG, "If-None-Match", "header", "the ETag of what the asker has",
		"{\"type\": \"string\"}"},
	{ROUTE_TENSORS, "Inference-Header-Content-Length", "header",
		"bytes of JSON, behind which there are binary tensors",
		"{\"type\": \"integer\", \"minimum\": 0}"},
};

/* Why a request may be refused, and by which routes. */
enum whose { ANY, GUARDED, ASKING, PACKED, ABSENT, VERSIONS };
static const struct status {
	const char *code, *about;
	enum whose whose;
	bool later; /* Retry-After says when to try again */
} statuses[] = {
	{"400", "it is not understood, or cannot be used; nothing of it was taken", ASKING, false},
	{"401", "a token is needed", GUARDED, false},
	{"403",
		"the token may only read; a page of another origin asks; or this is a follower, "
		"which only answers",
		ANY, false},
	{"404", "there is no such model, or nothing learns here", ABSENT, false},
	{"408", "it did not arrive in the time it has", ANY, false},
	{"409",
		"the name is taken, the version is in use, there is none to go back to, or nothing "
		"was learned yet",
		VERSIONS, false},
	{"413", "it has more bytes than serve.body, or needs more than serve.memory", ANY, false},
	{"415", "its body is packed otherwise than by gzip (Content-Encoding)", PACKED, false},
	{"421", "the Host is not ours", ANY, false},
	{"429", "there are serve.connections connections already", ANY, true},
	{"431", "its headers have more than 8 KiB", ANY, false},
	{"503", "serve.queue requests wait, the learner is paused, or the service ends", ANY, true},
};

#define COUNT_OF(rows) ((int)(sizeof(rows) / sizeof(*(rows))))

static bool may_say(const struct route *route, enum whose whose)
{
	const unsigned int needs = ROUTE_LEARNS | ROUTE_MODEL | ROUTE_COPY;

	switch (whose) {
	case GUARDED:
		return !(route->flags & ROUTE_OPEN);
	case ASKING:
		return route->takes || route->flags & (ROUTE_TIMES | ROUTE_RETRAIN);
	case PACKED:
		return route->takes;
	case ABSENT:
		return (route->flags & needs) || strstr(route->path, HOLE);
	case VERSIONS:
		return strstr(route->path, "/version") || strstr(route->path, "/rollback") ||
		       route->flags & ROUTE_RETRAIN;
	default:
		return true;
	}
}

static void say_type(struct jwriter *json, const char *type, const char *shape)
{
	char schema[96];

	snprintf(schema, sizeof(schema), "{\"$ref\": \"#/components/schemas/%s\"}", shape);
	jwriter_table(json, type);
	jwriter_raw(json, "schema", schema);
	jwriter_end(json);
}

static void say_names(struct jwriter *json, const struct serve *serve)
{
	jwriter_table(json, "schema");
	jwriter_text(json, "type", "string");
	jwriter_list(json, "enum");
	for (int i = 0; i < serve->config.count; i++)
		jwriter_text(json, NULL, serve->served[i].item.name);
	jwriter_end(json);
	jwriter_end(json);
}

static void say_name(struct jwriter *json, const struct serve *serve, const char *name)
{
	jwriter_table(json, NULL);
	jwriter_text(json, "name", name);
	jwriter_text(json, "in", "path");
	jwriter_truth(json, "required", true);
	say_names(json, serve);
	jwriter_end(json);
}

static void say_parameters(
	struct jwriter *json, const struct serve *serve, const struct route *route, bool named)
{
	jwriter_list(json, "parameters");
	if (named)
		say_name(json, serve, "learner");
	if (strstr(route->path, HOLE))
		say_name(json, serve, "name");
	if (strstr(route->path, VERSION))
		jwriter_raw(json, NULL,
			"{\"name\": \"version\", \"in\": \"path\", \"required\": true, "
			"\"schema\": {\"type\": \"string\"}}");
	if (strstr(route->path, ID))
		jwriter_raw(json, NULL,
			"{\"name\": \"id\", \"in\": \"path\", \"required\": true, "
			"\"schema\": {\"type\": \"string\"}}");
	for (int i = 0; i < COUNT_OF(params); i++) {
		if (!(route->flags & params[i].flag))
			continue;
		jwriter_table(json, NULL);
		jwriter_text(json, "name", params[i].name);
		jwriter_text(json, "in", params[i].in);
		jwriter_text(json, "description", params[i].about);
		jwriter_raw(json, "schema", params[i].schema);
		jwriter_end(json);
	}
	jwriter_end(json);
}

static void say_body(struct jwriter *json, const struct route *route)
{
	jwriter_table(json, "requestBody");
	jwriter_truth(json, "required", true);
	jwriter_table(json, "content");
	say_type(json, route->takes, route->asks);
	if (route->flags & ROUTE_PICTURE) {
		static const char *const types[] = {
			"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp"};

		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			say_type(json, types[i], "Text");
	}
	if (route->flags & ROUTE_TENSORS)
		say_type(json, "application/octet-stream", "Text");
	jwriter_end(json);
	jwriter_end(json);
}

static void say_responses(struct jwriter *json, const struct route *route)
{
	jwriter_table(json, "responses");
	jwriter_table(json, "200");
	jwriter_text(json, "description", "the answer");
	jwriter_table(json, "content");
	say_type(json, route->gives, route->says);
	if (route->flags & ROUTE_TENSORS)
		say_type(json, "application/octet-stream", "Text");
	if (route->flags & ROUTE_TIMES) {
		say_type(json, "text/csv; charset=utf-8", "Text");
		say_type(json, "application/octet-stream", "Text");
	}
	jwriter_end(json);
	jwriter_end(json);
	if (route->flags & ROUTE_TAG) {
		jwriter_table(json, "304");
		jwriter_text(json, "description", "the asker has it (If-None-Match)");
		jwriter_end(json);
	}
	for (int i = 0; i < COUNT_OF(statuses); i++) {
		char where[64];

		if (!may_say(route, statuses[i].whose))
			continue;
		snprintf(where, sizeof(where), "#/components/responses/%s", statuses[i].code);
		jwriter_table(json, statuses[i].code);
		jwriter_text(json, "$ref", where);
		jwriter_end(json);
	}
	jwriter_end(json);
}

static void say_route(struct jwriter *json, const struct serve *serve, const struct route *route)
{
	const bool named = serve->config.count > 1 && !(route->flags & ROUTE_ALL) &&
			   !strstr(route->path, HOLE);
	char path[128], method[16] = "";

	snprintf(path, sizeof(path), "%s%s", named ? "/{learner}" : "", route->path);
	if (route == routes || strcmp(route[-1].path, route->path) != 0)
		jwriter_table(json, path);
	for (size_t i = 0; i < sizeof(method) && (method[i] = route->method[i]); i++)
		method[i] = (char)tolower(method[i]);
	jwriter_table(json, method);
	jwriter_text(json, "summary", route->about);
	say_parameters(json, serve, route, named);
	if (route->flags & ROUTE_OPEN)
		jwriter_raw(json, "security", "[]");
	if (route->takes)
		say_body(json, route);
	say_responses(json, route);
	jwriter_end(json);
	if (!route[1].method || strcmp(route[1].path, route->path) != 0)
		jwriter_end(json);
}

static void say_components(struct jwriter *json, const struct serve *serve)
{
	jwriter_table(json, "components");
	jwriter_table(json, "schemas");
	for (int i = 0; i < COUNT_OF(shapes); i++)
		jwriter_raw(json, shapes[i].name, shapes[i].schema);
	jwriter_end(json);
	jwriter_table(json, "responses");
	for (int i = 0; i < COUNT_OF(statuses); i++) {
		jwriter_table(json, statuses[i].code);
		jwriter_text(json, "description", statuses[i].about);
		if (statuses[i].later)
			jwriter_raw(json, "headers",
				"{\"Retry-After\": {\"description\": \"seconds\", \"schema\": "
				"{\"type\": \"integer\"}}}");
		jwriter_table(json, "content");
		say_type(json, JSON_TYPE, "Error");
		jwriter_end(json);
		jwriter_end(json);
	}
	jwriter_end(json);
	if (*serve->guard.token)
		jwriter_raw(json, "securitySchemes",
			"{\"token\": {\"type\": \"http\", \"scheme\": \"bearer\"}, \"password\": "
			"{\"type\": \"http\", \"scheme\": \"basic\"}}");
	jwriter_end(json);
}

enum http_next serve_openapi(struct exchange *exchange)
{
	const struct serve *serve = exchange->serve;
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "openapi", "3.1.0");
	jwriter_table(&json, "info");
	jwriter_text(&json, "title", "retain");
	jwriter_text(&json, "version", retain_version());
	jwriter_end(&json);
	if (*serve->guard.token)
		jwriter_raw(&json, "security", "[{\"token\": []}, {\"password\": []}]");
	jwriter_table(&json, "paths");
	for (const struct route *route = routes; route->method; route++)
		say_route(&json, serve, route);
	jwriter_end(&json);
	say_components(&json, serve);
	jwriter_end(&json);
	text_add(json.out, "\n");
	return http_say(exchange->request, 200, exchange->route->gives);
}
