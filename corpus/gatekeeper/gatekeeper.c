/*
 * gatekeeper - decide the next step of a canal lock
 *
 * The controller of a lock calls this program once a second with what its
 * sensors report and obeys the code that it prints: an action in the
 * hundreds, and below it the valve opening in per cent or, for refusals and
 * alarms, the reason.  One call is one decision; nothing is remembered.
 *
 * usage: gatekeeper UPPER CHAMBER LOWER UGATE LGATE REQUEST CLASS LENGTH
 *                   DRAFT WIND CURRENT MODE IDLE
 *
 * Levels are in cm above the chamber floor, LENGTH in dm, DRAFT in cm, WIND
 * and CURRENT in cm/s, IDLE in seconds since the last vessel moved.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum gate { SHUT, OPEN, AJAR };
enum request { NOBODY, UPWARD, DOWNWARD };
enum vessel { BOAT, BARGE, TANKER, CONVOY, CLASSES };
enum mode { AUTOMATIC, ASSISTED, SERVICE };
enum action {
	HOLD, FILL, DRAIN, OPEN_UPPER, OPEN_LOWER, SHUT_UPPER, SHUT_LOWER,
	ADMIT, REFUSE, ALARM
};
enum reason { NO_REASON, TOO_LONG, TOO_DEEP, TOO_WINDY, BAD_SENSOR, BAD_GATES, BAD_MODE };

/* What the sensors report. */
static int upper, chamber, lower;
static int upper_gate, lower_gate;
static int request, class, length, draft;
static int wind, current, mode, idle;

/* The limits of this lock, by class of vessel where they depend on it. */
static int level_slack[CLASSES], wind_limit[CLASSES], keel_room[CLASSES];
static int chamber_length, convoy_overhang, upper_sill, lower_sill;
static int surge_limit, strong_current, steep_head, idle_limit;

static int opening, reason;

static void set_limits(void)
{
	level_slack[BOAT] = 3;
	level_slack[BARGE] = 6;
	level_slack[TANKER] = 4;
	level_slack[CONVOY] = 8;
	wind_limit[BOAT] = 900;
	wind_limit[BARGE] = 1700;
	wind_limit[TANKER] = 1400;
	wind_limit[CONVOY] = 1100;
	keel_room[BOAT] = 20;
	keel_room[BARGE] = 30;
	keel_room[TANKER] = 60;
	keel_room[CONVOY] = 40;
	chamber_length = 1150;
	convoy_overhang = 80;
	upper_sill = 420;
	lower_sill = 35;
	surge_limit = 15;
	strong_current = 120;
	steep_head = 250;
	idle_limit = 600;
}

static int distance(int a, int b)
{
	return a > b ? a - b : b - a;
}

/* The water can stand between the two canal levels only, give or take a surge. */
static bool sensors_agree(void)
{
	if (upper < lower)
		return false;
	if (chamber > upper + surge_limit || chamber < lower - surge_limit)
		return false;
	return length > 0 && draft >= 0 && wind >= 0;
}

/* Both gates off their seats would let the canal run through. */
static bool gates_conflict(void)
{
	bool upper_loose = upper_gate != SHUT;
	bool lower_loose = lower_gate != SHUT;

	if (upper_loose && lower_loose)
		return true;
	if (mode == SERVICE)
		return false;
	return (upper_loose && distance(upper, chamber) > 2 * surge_limit)
		|| (lower_loose && distance(chamber, lower) > 2 * surge_limit);
}

/* The strongest wind in which this vessel may enter. */
static int wind_allowed(void)
{
	int limit = wind_limit[class];

	if (current > strong_current)
		limit -= 2 * (current - strong_current);
	if (class == TANKER && length > 1000)
		limit -= 200;
	if (mode == ASSISTED)
		limit += limit / 8;
	return limit;
}

/* The depth over the shallower of the two sills that the vessel has to cross. */
static int depth_on_the_way(void)
{
	int above = upper - upper_sill;
	int below = lower - lower_sill;

	return above < below ? above : below;
}

static int usable_length(void)
{
	int usable = chamber_length;

	if (class == CONVOY && mode != AUTOMATIC)
		usable += convoy_overhang;
	if (class == TANKER)
		usable -= 50;
	return usable;
}

/* Why the waiting vessel cannot be taken, or NO_REASON. */
static int objection(void)
{
	if (length > usable_length())
		return TOO_LONG;
	if (draft + keel_room[class] > depth_on_the_way())
		return TOO_DEEP;
	if (wind > wind_allowed())
		return TOO_WINDY;
	return NO_REASON;
}

/* Valves open with care: a steep head or a small boat asks for less. */
static int valve_opening(int head)
{
	int percent = 100;

	if (head > steep_head)
		percent = 40;
	else if (head > steep_head / 2)
		percent = 70;
	if (class == BOAT && percent > 50)
		percent = 50;
	else if (class == TANKER)
		percent -= 10;
	if (mode == ASSISTED && idle < 30)
		percent /= 2;
	return percent;
}

/* Bring the chamber to the upper canal, then open the gate there. */
static int rise(void)
{
	int head = upper - chamber;

	if (lower_gate != SHUT)
		return SHUT_LOWER;
	if (head > level_slack[class]) {
		opening = valve_opening(head);
		return FILL;
	}
	return upper_gate == OPEN ? ADMIT : OPEN_UPPER;
}

/* Bring the chamber to the lower canal, then open the gate there. */
static int fall(void)
{
	int head = chamber - lower;

	if (upper_gate != SHUT)
		return SHUT_UPPER;
	if (head > level_slack[class]) {
		opening = valve_opening(head);
		return DRAIN;
	}
	return lower_gate == OPEN ? ADMIT : OPEN_LOWER;
}

/* Nobody waits: after a while the chamber is made ready for the next vessel. */
static int rest(void)
{
	bool drifting = distance(chamber, lower) > level_slack[BARGE];

	if (idle < idle_limit)
		return HOLD;
	if (upper_gate != SHUT)
		return SHUT_UPPER;
	if (lower_gate == SHUT && drifting && current <= strong_current) {
		opening = 20;
		return DRAIN;
	}
	return HOLD;
}

static int serve(void)
{
	reason = objection();
	if (reason != NO_REASON && !(reason == TOO_WINDY && mode == SERVICE))
		return REFUSE;
	return request == UPWARD ? fall() : rise();
}

static int decide(void)
{
	bool known_mode = mode >= AUTOMATIC && mode <= SERVICE;
	bool known_class = class >= BOAT && class < CLASSES;

	if (!known_mode || !known_class || !sensors_agree()) {
		reason = known_mode ? BAD_SENSOR : BAD_MODE;
		return ALARM;
	}
	if (gates_conflict()) {
		reason = BAD_GATES;
		return ALARM;
	}
	if (request == NOBODY || (mode == SERVICE && idle < 60))
		return rest();
	return serve();
}

static int code_of(int action)
{
	if (action == FILL || action == DRAIN)
		return action * 100 + opening;
	if (action == REFUSE || action == ALARM)
		return action * 100 + reason;
	return action * 100;
}

int main(int argc, char **argv)
{
	if (argc != 14) {
		fprintf(stderr, "usage: gatekeeper UPPER CHAMBER LOWER UGATE LGATE REQUEST CLASS "
			"LENGTH DRAFT WIND CURRENT MODE IDLE\n");
		return 2;
	}
	set_limits();
	upper = atoi(argv[1]);
	chamber = atoi(argv[2]);
	lower = atoi(argv[3]);
	upper_gate = atoi(argv[4]);
	lower_gate = atoi(argv[5]);
	request = atoi(argv[6]);
	class = atoi(argv[7]);
	length = atoi(argv[8]);
	draft = atoi(argv[9]);
	wind = atoi(argv[10]);
	current = atoi(argv[11]);
	mode = atoi(argv[12]);
	idle = atoi(argv[13]);
	printf("%d\n", code_of(decide()));
	return 0;
}
