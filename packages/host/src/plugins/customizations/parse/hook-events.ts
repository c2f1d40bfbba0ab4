/** The moments at which hooks may run, and the other names that they go by. */

const EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SessionStart',
  'SessionEnd',
  'UserPromptSubmit',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'BeforeReadFile',
  'AfterFileEdit',
  'BeforeShellExecution',
  'AfterShellExecution',
  'Notification',
  'PermissionRequest',
  'ErrorOccurred',
] as const;

export type HookEvent = (typeof EVENTS)[number];

/** Copilot's names. */
const ALIASES: Readonly<Record<string, HookEvent>> = {
  sessionStart: 'SessionStart',
  sessionEnd: 'SessionEnd',
  userPromptSubmitted: 'UserPromptSubmit',
  preToolUse: 'PreToolUse',
  postToolUse: 'PostToolUse',
  agentStop: 'Stop',
  subagentStop: 'SubagentStop',
  errorOccurred: 'ErrorOccurred',
};

const BY_NAME: ReadonlyMap<string, HookEvent> = new Map([
  ...EVENTS.map((event) => [event, event] as const),
  ...Object.entries(ALIASES),
]);

/** Undefined for an event that this host does not know. */
export function hookEvent(name: string): HookEvent | undefined {
  return BY_NAME.get(name);
}
