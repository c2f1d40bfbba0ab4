/** Limits of automations: how many, how large, how often. */

export const AUTOMATIONS_MAX = 100;
export const TRIGGERS_MAX = 10;
/** The whole definition as JSON, because every definition is in the snapshot of the catalogue. */
export const DEFINITION_MAX_CHARACTERS = 64 * 2 ** 10;
export const AUTOMATION_TITLE_MAX_CHARACTERS = 200;
export const AUTOMATION_URI_MAX_CHARACTERS = 200;
export const TRIGGER_ID_MAX_CHARACTERS = 100;
export const CRON_MAX_CHARACTERS = 200;
export const REQUEST_ID_MAX_CHARACTERS = 200;

/** The shortest time between two runs of one schedule. */
export const SCHEDULE_MIN_INTERVAL_MINUTES = 5;
/** A time that the host notices later than this counts as missed; see the misfire policy of its trigger. */
export const MISFIRE_AFTER_MS = 60_000;
/** How often the host checks its wall clock at least, because that clock may jump. */
export const CLOCK_CHECK_MS = 30_000;
/** Missed times are counted up to this number. */
export const MISSED_COUNTED_MAX = 1_000;

/** How many runs of one automation are kept; older ones are forgotten. Their sessions stay. */
export const RUN_HISTORY_LIMIT = 50;
/** How many runs an entry of the catalogue shows at first, and how many each `fetchAutomationRuns` adds. */
export const RUNS_PAGE = 10;

/** How many runs of all automations work at once by default. Further ones wait. */
export const RUNS_AT_ONCE = 4;
/** Events that start no run are counted at once, but written at most this often, all together. */
export const SKIPS_WRITTEN_EVERY_MS = 1_000;

/** How many runs events may start within an hour, for each automation. */
export const EVENT_RUNS_PER_HOUR_MAX = 12;
export const EVENT_RUNS_WITHIN_MS = 60 * 60_000;
/** How many automations may start one another in a chain. */
export const CHAIN_MAX = 3;
/** How much text of a provider's event a run shows. */
export const EVENT_TEXT_MAX_CHARACTERS = 4_000;
/** Patterns of one file trigger, and how many changed files a run names. */
export const FILE_PATTERNS_MAX = 20;
export const FILES_NAMED_MAX = 50;
/** The total length of those files' paths: every run is in its entry of the catalogue, and names may be long. */
export const FILES_NAMED_MAX_CHARACTERS = 8_000;
/** Changed files are counted up to this number until they are quiet. */
export const FILES_COUNTED_MAX = 10_000;
/** Changes start a run once files have been quiet for this long, and after the longer time in any case. */
export const FILES_SETTLE_MS = 2_000;
export const FILES_SETTLE_MAX_MS = 60_000;
/** Changes this soon after a run still count as its own. */
export const FILES_QUIET_MS = 2_000;
/** A folder that cannot be watched is tried again after this time. */
export const WATCH_RETRY_MS = 60_000;
