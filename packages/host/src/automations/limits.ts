/** Limits of automations: how many, how large, how often. */

export const AUTOMATIONS_MAX = 100;
export const TRIGGERS_MAX = 10;
/** The whole definition as JSON: every definition is in the snapshot of the catalogue. */
export const DEFINITION_MAX_CHARACTERS = 64 * 2 ** 10;
export const AUTOMATION_TITLE_MAX_CHARACTERS = 200;
export const AUTOMATION_URI_MAX_CHARACTERS = 200;
export const TRIGGER_ID_MAX_CHARACTERS = 100;
export const CRON_MAX_CHARACTERS = 200;
export const REQUEST_ID_MAX_CHARACTERS = 200;

/** Two times of one schedule are at least this far apart. */
export const SCHEDULE_MIN_INTERVAL_MINUTES = 5;
/** A time that the host notices later than this has been missed; see the misfire policy of its trigger. */
export const MISFIRE_AFTER_MS = 60_000;
/** The host looks at its wall clock at least this often, because that clock may jump. */
export const LOOK_EVERY_MS = 30_000;
/** Missed times are counted up to this. */
export const MISSED_COUNTED_MAX = 1_000;

/** Runs of one automation that are kept; older ones are forgotten. Their sessions stay. */
export const RUN_HISTORY_LIMIT = 50;
/** Runs that an entry of the catalogue shows at first, and that each `fetchAutomationRuns` adds. */
export const RUNS_PAGE = 10;

/** Runs of all automations that work at once, unless the host is told otherwise. Further ones wait for their turn. */
export const RUNS_AT_ONCE = 4;
/** Events that start nothing are counted at once and written so often at most, all together. */
export const SKIPS_WRITTEN_EVERY_MS = 1_000;

/** Runs that events may start, for each automation, within an hour. */
export const EVENT_RUNS_PER_HOUR_MAX = 12;
export const EVENT_RUNS_WITHIN_MS = 60 * 60_000;
/** How many automations may start one another by their turns, one behind the other. */
export const CHAIN_MAX = 3;
/** The text of an event of a provider that a run tells. */
export const EVENT_TEXT_MAX_CHARACTERS = 4_000;
/** Patterns of one file trigger, and files that a run names of those that changed. */
export const FILE_PATTERNS_MAX = 20;
export const FILES_TOLD_MAX = 50;
/** The paths of those files together: every run is in its entry of the catalogue, and files may have long names. */
export const FILES_TOLD_MAX_CHARACTERS = 8_000;
/** Files that changed are counted up to this, until they are quiet. */
export const FILES_COUNTED_MAX = 10_000;
/** Files are quiet for so long before their changes start a run, but it does not wait longer than this. */
export const FILES_SETTLE_MS = 2_000;
export const FILES_SETTLE_MAX_MS = 60_000;
/** Changes that come so soon after a run are still its own. */
export const FILES_QUIET_MS = 2_000;
/** A folder that cannot be watched is tried again after this. */
export const WATCH_RETRY_MS = 60_000;
