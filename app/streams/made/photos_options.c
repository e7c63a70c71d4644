/* The keys of the stream of photos: drift's, and what is about pictures; most are constants (OPTION_RETIRED). */
#include "streams/made/drift_rows.h"
#include "streams/made/photos_scene.h"

const struct option_row photos_options[] = {
	DRIFT_ROWS("photos", "600", "4", "20", "0.5", "0.866", "0.05", OPTION_RETIRED),
	{"photos", "size", OPTION_INT, "32", "[8, 512]", "rows and columns of a photo"},
	{"photos", "viewpoint", OPTION_FLOAT, "1", "[0, 1.5]",
		"how much albums and photos differ in where one stands", OPTION_RETIRED},
	{"photos", "weather", OPTION_FLOAT, "0.3", "[0, 1]", "share of albums in bad weather",
		OPTION_RETIRED},
	{"photos", "night", OPTION_FLOAT, "0.25", "[0, 1]", "share of albums at dusk or night",
		OPTION_RETIRED},
	{"photos", "clutter", OPTION_FLOAT, "0.8", "[0, 2]",
		"mean number of things that come into a photo by chance", OPTION_RETIRED},
	{"photos", "cameras", OPTION_INT, "5", "[1, 100]", "generations of cameras in the stream",
		OPTION_RETIRED},
	{"photos", "grain", OPTION_FLOAT, "1", "[0, 10]", "how grainy photos are; 0: not at all",
		OPTION_RETIRED},
	{NULL},
};

void photos_config_read(struct photos_config *config, const struct options *options)
{
	*config = (struct photos_config){
		.size = options_int(options, "photos.size"),
		.viewpoint = options_float(options, "photos.viewpoint"),
		.weather = options_float(options, "photos.weather"),
		.night = options_float(options, "photos.night"),
		.clutter = options_float(options, "photos.clutter"),
		.cameras = options_int(options, "photos.cameras"),
		.grain = options_float(options, "photos.grain"),
	};
	drift_config_read_rows(&config->drift, options, "photos");
	config->drift.dim = PHOTOS_LOOK;
}
