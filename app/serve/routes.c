/* The interface, a row per route. docs/reference/http.md explains it. */
#include "serve/exchange.h"

#define JSON   "application/json"
#define NDJSON "application/x-ndjson"

const struct route routes[] = {
	{"GET", "/", "The dashboard.", serve_dashboard, ROUTE_COSTS, NULL,
		"text/html; charset=utf-8", NULL, "Text"},
	{"POST", "/v1/predict",
		"What an object with an input, or each of a list, is. With an id the input is kept "
		"until its label comes; without one nothing is. ?for=ever asks the slow weights, "
		"?top=K wants the K most probable classes. An image net also takes an image: JPEG, "
		"PNG, WebP, GIF or BMP.",
		serve_predict, ROUTE_MODEL | ROUTE_WISH | ROUTE_PICTURE, JSON, JSON, "Questions",
		"Predictions"},
	{"POST", "/v1/label", "The label of an id, or of each of a list.", serve_label,
		ROUTE_CHANGES | ROUTE_LEARNS, JSON, JSON, "Labels", "Samples"},
	{"PUT", "/v1/label",
		"Corrects the label of an id's latest sample; later replay draws it. What was "
		"learned "
		"of the one before stays, unless ?retrain=1 asks for learning all again at the "
		"next "
		"start.",
		serve_correct, ROUTE_CHANGES | ROUTE_LEARNS | ROUTE_RETRAIN, JSON, JSON, "Label",
		"Amended"},
	{"POST", "/v1/samples",
		"Lines of a live stream, inputs and labels, answered when they are on disk. "
		"Sending a line again is safe.",
		serve_samples, ROUTE_CHANGES | ROUTE_LEARNS | ROUTE_PIECES | ROUTE_WISH, NDJSON,
		NDJSON, "Text", "Text"},
	{"DELETE", "/v1/samples/{id}",
		"Forgets all samples of an id, and its waiting input: in the journal, memories "
		"beside "
		"the net, checkpoints and versions made since. The net's weights stay, unless "
		"?retrain=1 asks for learning all others again at the next start.",
		serve_forget, ROUTE_CHANGES | ROUTE_LEARNS | ROUTE_RETRAIN, NULL, JSON, NULL,
		"Amended"},
	{"GET", "/v1/state", "How learner and service are.", serve_state, 0, NULL, JSON, NULL,
		"Object"},
	{"GET", "/v1/events",
		"What is decided while it learns, as server-sent events. Last-Event-ID, or ?from=0 "
		"for all there are, says where to go on.",
		serve_events, ROUTE_LEARNS | ROUTE_EVENTS | ROUTE_COSTS, NULL, "text/event-stream",
		NULL, "Text"},
	{"GET", "/v1/model.safetensors", "The weights that answer, as of now.", serve_model_file,
		ROUTE_COPY | ROUTE_COSTS, NULL, "application/octet-stream", NULL, "Text"},
	{"GET", "/v1/serving.tar",
		"What answers, with all that is needed to answer, as a tar archive of a version's "
		"files; 304 where If-None-Match has its ETag. For retain serve --follow.",
		serve_serving, ROUTE_LEARNS | ROUTE_COPY | ROUTE_COSTS | ROUTE_TAG, NULL,
		"application/x-tar", NULL, "Text"},
	{"GET", "/v1/config", "All keys with their values.", serve_config_file, 0, NULL,
		"text/plain; charset=utf-8", NULL, "Text"},
	{"POST", "/v1/pause", "Takes no samples until /v1/resume; predictions go on.", serve_pause,
		ROUTE_CHANGES | ROUTE_LEARNS, NULL, JSON, NULL, "Done"},
	{"POST", "/v1/resume", "Goes on after /v1/pause.", serve_resume,
		ROUTE_CHANGES | ROUTE_LEARNS, NULL, JSON, NULL, "Done"},
	{"POST", "/v1/save", "Makes a checkpoint, and answers when it is on disk.", serve_save,
		ROUTE_CHANGES | ROUTE_LEARNS | ROUTE_COPY, NULL, JSON, NULL, "Done"},
	{"POST", "/v1/backup",
		"Copies the folder as it is at this moment, below serve.backups, and answers with "
		"the copy's name when it is whole.",
		serve_backup, ROUTE_CHANGES | ROUTE_LEARNS, NULL, JSON, NULL, "Done"},
	{"GET", "/v1/export",
		"All samples as lines: inputs, what was predicted before the label, labels, ids "
		"and "
		"times. A token that may only read is not enough.",
		serve_export, ROUTE_CHANGES | ROUTE_LEARNS | ROUTE_COPY | ROUTE_COSTS | ROUTE_TIMES,
		NULL, NDJSON, NULL, "Text"},
	{"GET", "/v1/versions", "All versions, and which one answers.", serve_versions,
		ROUTE_LEARNS | ROUTE_COSTS, NULL, JSON, NULL, "Versions"},
	{"POST", "/v1/versions",
		"Makes a version of the learner as it is: {\"name\": \"monday\"}. It never "
		"changes.",
		serve_make_version, ROUTE_CHANGES | ROUTE_LEARNS, JSON, JSON, "Name", "Version"},
	{"GET", "/v1/versions/{version}",
		"A version; with ?from=OTHER what has changed since that one.", serve_version,
		ROUTE_LEARNS | ROUTE_COSTS | ROUTE_FROM, NULL, JSON, NULL, "Object"},
	{"DELETE", "/v1/versions/{version}", "Drops a version that does not answer.",
		serve_drop_version, ROUTE_CHANGES | ROUTE_LEARNS, NULL, JSON, NULL, "Done"},
	{"POST", "/v1/versions/{version}/serve",
		"Lets a version answer from now on, or the learner itself, which is called live. "
		"The "
		"learner goes on learning either way.",
		serve_by_version, ROUTE_CHANGES | ROUTE_LEARNS, NULL, JSON, NULL, "Serving"},
	{"POST", "/v1/rollback",
		"Lets answer what answered before; if nothing else has, the newest version.",
		serve_rollback, ROUTE_CHANGES | ROUTE_LEARNS, NULL, JSON, NULL, "Serving"},
	{"GET", "/metrics", "For Prometheus.", serve_metrics, ROUTE_ALL, NULL,
		"text/plain; version=0.0.4; charset=utf-8", NULL, "Text"},
	{"GET", "/openapi.json", "This description.", serve_openapi, ROUTE_ALL, NULL, JSON, NULL,
		"Object"},
	{"GET", "/data.json", "What the dashboard shows.", serve_data, ROUTE_COSTS, NULL, JSON,
		NULL, "Object"},
	{"GET", "/v2", "Open Inference Protocol: the server.", serve_server, ROUTE_ALL, NULL, JSON,
		NULL, "Object"},
	{"GET", "/v2/health/live", "Open Inference Protocol: it runs.", serve_live,
		ROUTE_OPEN | ROUTE_ALL, NULL, JSON, NULL, "Object"},
	{"GET", "/v2/health/ready", "Open Inference Protocol: it can answer.", serve_ready,
		ROUTE_OPEN | ROUTE_ALL, NULL, JSON, NULL, "Object"},
	{"GET", "/v2/models/{name}", "Open Inference Protocol: the model.", serve_model,
		ROUTE_COPY | ROUTE_COSTS, NULL, JSON, NULL, "Object"},
	{"GET", "/v2/models/{name}/ready", "Open Inference Protocol: the model can answer.",
		serve_ready, ROUTE_MODEL, NULL, JSON, NULL, "Object"},
	{"POST", "/v2/models/{name}/infer",
		"Open Inference Protocol: probabilities and labels of a batch of inputs, in JSON "
		"or binary tensors.",
		serve_infer, ROUTE_COPY | ROUTE_TENSORS, JSON, JSON, "Object", "Object"},
	{"GET", "/v2/models/{name}/versions/{version}", "Open Inference Protocol: a version.",
		serve_model, ROUTE_COPY | ROUTE_COSTS, NULL, JSON, NULL, "Object"},
	{"GET", "/v2/models/{name}/versions/{version}/ready",
		"Open Inference Protocol: a version can answer.", serve_ready,
		ROUTE_COPY | ROUTE_COSTS, NULL, JSON, NULL, "Object"},
	{"POST", "/v2/models/{name}/versions/{version}/infer",
		"Open Inference Protocol: the same by a version; live is the learner itself.",
		serve_infer, ROUTE_COPY | ROUTE_TENSORS | ROUTE_COSTS, JSON, JSON, "Object",
		"Object"},
	{0},
};

_Static_assert(sizeof(routes) / sizeof(*routes) <= METERS_ROUTES, "METERS_ROUTES");
