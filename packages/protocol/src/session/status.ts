/** `SessionSummary.status`: five bits of activity, of which one value holds, and flags above them. */

export const SessionStatus = {
  Idle: 1,
  Error: 2,
  InProgress: 8,
  /** Contains `InProgress`: test with `&`, never with `===`. */
  InputNeeded: 24,
  IsRead: 32,
  IsArchived: 64,
} as const;

/** The bits that hold the activity. */
export const ACTIVITY_MASK = 31;
