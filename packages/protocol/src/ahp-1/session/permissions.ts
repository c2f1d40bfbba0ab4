/**
 * Permission rules and modes, an extension. The mode of a session is the property `mode` of its configuration, so every
 * client can see it and change it with `session/configChanged`; `autoApprove`, which older clients know, counts as
 * well. What rules said about a call is in the call's `_meta`. The methods below list and change rules.
 */
import { ANSWERED_BY } from '../access.js';
import type { ConfirmationOption, ToolCallPendingConfirmationState, ToolCallState } from '../chat/tool-calls.js';

export const PERMISSION_MODES = ['plan', 'ask', 'accept-edits', 'auto'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** The property in a session's configuration, and in the root's for new sessions. */
export const MODE_PROPERTY = 'mode';

export const MODE_LABELS: Readonly<Record<PermissionMode, string>> = {
  plan: 'Plan',
  ask: 'Ask',
  'accept-edits': 'Accept edits',
  auto: 'Auto',
};

export const MODE_TEXTS: Readonly<Record<PermissionMode, string>> = {
  plan: 'Only looks, and ends with a plan to accept, edit or reject.',
  ask: 'Asks before anything is changed or run, unless a rule allows it.',
  'accept-edits': "Changes files in the session's folders without asking; asks about everything else.",
  auto: 'As accept edits, and runs commands that only look; rules decide about the rest, and without a rule it asks.',
};

type Values = Readonly<Record<string, unknown>>;

export function isPermissionMode(value: unknown): value is PermissionMode {
  return PERMISSION_MODES.some((mode) => mode === value);
}

/** The mode of a configuration. Clients that know no modes set `autoApprove`, which does not change plan mode. */
export function modeIn(values: Values | undefined): PermissionMode {
  const mode = isPermissionMode(values?.[MODE_PROPERTY]) ? values[MODE_PROPERTY] : 'ask';
  return values?.autoApprove === true && mode !== 'plan' ? 'auto' : mode;
}

/** True when everything is allowed that no rule forbids or asks about. */
export function allowsAll(values: Values | undefined): boolean {
  return values?.autoApprove === true && modeIn(values) !== 'plan';
}

/** The change of the configuration for a mode. It also ends `autoApprove`. */
export function modeChange(mode: PermissionMode, values: Values | undefined): Record<string, unknown> {
  return { [MODE_PROPERTY]: mode, ...(values?.autoApprove === true && { autoApprove: false }) };
}

/** The next mode, for a key that cycles through all. */
export function nextMode(mode: PermissionMode): PermissionMode {
  return PERMISSION_MODES[(PERMISSION_MODES.indexOf(mode) + 1) % PERMISSION_MODES.length] ?? 'ask';
}

export const RULE_EFFECTS = ['deny', 'ask', 'allow'] as const;
export type RuleEffect = (typeof RULE_EFFECTS)[number];

/** `built-in`: what a mode allows by itself. */
export const RULE_SCOPES = ['host', 'person', 'project', 'session', 'built-in'] as const;
export type RuleScope = (typeof RULE_SCOPES)[number];

/** Where people can add rules. */
export const WRITABLE_SCOPES = ['session', 'project', 'person'] as const;
export type WritableScope = (typeof WRITABLE_SCOPES)[number];

/** In the `_meta` of a tool call: what rules and the mode said about it. */
export const PERMISSION_META_KEY = 'atrium.permission';

export interface CallPermission {
  /** `none`: no rule and no mode applies; the tool decided whether a person was asked. */
  readonly effect: RuleEffect | 'none';
  readonly mode: PermissionMode;
  /** The rule that decided, in its stored form, and its scope. */
  readonly rule?: string;
  readonly scope?: RuleScope;
  /** The reason in words, when no rule says it. */
  readonly why?: string;
  /** A person changed the input before they said yes. All of this is about the changed input. */
  readonly isChangedByPerson?: true;
  /** The rules that "always allow" would write. */
  readonly proposes?: readonly string[];
}

export function callPermission({ _meta }: { readonly _meta?: Values | undefined }): CallPermission | undefined {
  const value = _meta?.[PERMISSION_META_KEY];
  if (typeof value !== 'object' || value === null) return undefined;
  const { effect, mode } = value as Partial<CallPermission>;
  const isKnown = effect === 'none' || RULE_EFFECTS.some((each) => each === effect);
  return isKnown && isPermissionMode(mode) ? (value as CallPermission) : undefined;
}

const SCOPE_LABELS: Readonly<Record<RuleScope, string>> = {
  host: 'rule of this host',
  person: 'your rule',
  project: 'rule of the project',
  session: 'rule of this session',
  'built-in': 'mode',
};

/** What decided about a call, in words; undefined when there is nothing to say. */
export function permissionWords({ effect, mode, rule, scope, why }: CallPermission): string | undefined {
  const made = { allow: 'Allowed', ask: 'Asked', deny: 'Denied', none: 'Asked' }[effect];
  if (rule === undefined || scope === undefined) return why === undefined ? undefined : `${made}: ${why}`;
  if (scope === 'built-in') return `${made} by the mode ${MODE_LABELS[mode]}: ${rule}`;
  return `${made} by ${scope === 'person' ? SCOPE_LABELS.person : `the ${SCOPE_LABELS[scope]}`}: ${rule}${why === undefined ? '' : ` (${why})`}`;
}

/**
 * What decided about a call that is no longer waiting, in words; undefined for a plain yes or no, and when nothing
 * decided.
 */
export function decisionWords(call: ToolCallState): string | undefined {
  const permission = callPermission(call);
  if (call.status === 'cancelled') {
    // A denying rule is already named in the call's reason.
    return call.reason === 'denied' && permission?.effect !== 'deny' ? answerText(call, 'denied') : undefined;
  }
  if (!('confirmed' in call)) return undefined;
  if (call.confirmed === 'user-action') return answerText(call, 'allowed');
  return permission?.effect === 'allow' ? permissionWords(permission) : undefined;
}

/** Why a person was asked, who answered, and what applies from then on. */
function answerText(call: ToolCallState, made: 'allowed' | 'denied'): string | undefined {
  const permission = callPermission(call);
  const asked = permission?.effect === 'ask' ? permissionWords(permission) : undefined;
  const name = call._meta?.[ANSWERED_BY];
  const option = 'selectedOption' in call ? call.selectedOption : undefined;
  const lasting = alwaysScope(option?.id) === undefined ? undefined : option?.label;
  const isChanged = permission?.isChangedByPerson === true;
  if (asked === undefined && typeof name !== 'string' && lasting === undefined && !isChanged) return undefined;
  const by = `${made} by ${typeof name === 'string' ? name : 'a person'}${isChanged ? ', who changed the input' : ''}`;
  const answer = lasting === undefined ? by : `${by}: ${lasting}`;
  return asked === undefined ? `${answer.charAt(0).toUpperCase()}${answer.slice(1)}` : `${asked}; ${answer}`;
}

/** Ids of options that answer yes and write rules, by where they write them. */
export const ALWAYS_OPTIONS: Readonly<Record<WritableScope, string>> = {
  session: 'always-session',
  project: 'always-project',
  person: 'always-person',
};

/** Where an option writes rules; undefined for other options. */
export function alwaysScope(optionId: string | undefined): WritableScope | undefined {
  return WRITABLE_SCOPES.find((scope) => ALWAYS_OPTIONS[scope] === optionId);
}

/** The text of an option that writes rules: what it writes, and where. */
export function alwaysLabel(rules: readonly string[], where: string): string {
  return `${alwaysWhat(rules)} ${where}`;
}

function alwaysWhat(rules: readonly string[]): string {
  return `Always allow ${rules.join(', ')}`;
}

/**
 * The options that write the rules which the call proposes, each with only the words that differ: where. Other options
 * are left out, so a client can say once what all of these have in common.
 */
export function alwaysPlaces({
  options = [],
  _meta,
}: {
  readonly options?: readonly ConfirmationOption[] | undefined;
  readonly _meta?: Values | undefined;
}): ReadonlyMap<ConfirmationOption, string> {
  const { proposes } = callPermission({ _meta }) ?? {};
  const what = proposes && `${alwaysWhat(proposes)} `;
  return new Map(
    options
      .filter(({ id, label }) => what !== undefined && alwaysScope(id) !== undefined && label.startsWith(what))
      .map((option) => [option, option.label.slice(what?.length)]),
  );
}

/** `{ channel?: session }` → `PermissionList`. Without a session: the rules of host and person. */
export const PERMISSIONS_METHOD = 'atrium/permissions';
/** `{ channel?, scope, effect, rule }`: adds a rule. A session is needed for the scopes `session` and `project`. */
export const ADD_PERMISSION_METHOD = 'atrium/addPermission';
/** `{ channel?, scope, effect, rule }` → `{ wasThere }`. */
export const REMOVE_PERMISSION_METHOD = 'atrium/removePermission';
/** `{ channel?, command?, tool?, input? }` → `CallPermission`: what would be decided. Nothing runs. */
export const TEST_PERMISSION_METHOD = 'atrium/testPermission';

export interface ListedRule {
  readonly effect: RuleEffect;
  readonly rule: string;
  readonly scope: RuleScope;
  /** The file that contains it. */
  readonly from?: string;
  /** When it last decided about a call, in milliseconds since 1970. */
  readonly lastUsed?: number;
  /** Why it does not apply now: the folder is not trusted, or its rules are not the trusted ones. */
  readonly isIdle?: string;
}

export interface PermissionList {
  readonly mode?: PermissionMode;
  readonly rules: readonly ListedRule[];
  /** Rules and files that could not be read. */
  readonly problems: readonly string[];
}

/** Reads a host's answer, as far as it is valid. */
export function readPermissionList(answer: unknown): PermissionList {
  const { mode, rules, problems } = (
    typeof answer === 'object' && answer !== null ? answer : {}
  ) as Partial<PermissionList>;
  return {
    ...(isPermissionMode(mode) && { mode }),
    rules: Array.isArray(rules) ? rules.filter(isListed) : [],
    problems: Array.isArray(problems) ? problems.filter((each) => typeof each === 'string') : [],
  };
}

function isListed(item: unknown): item is ListedRule {
  if (typeof item !== 'object' || item === null) return false;
  const { effect, rule, scope } = item as Partial<ListedRule>;
  const isKnown = RULE_EFFECTS.some((each) => each === effect) && RULE_SCOPES.some((each) => each === scope);
  return isKnown && typeof rule === 'string';
}

/** The tool with which an agent in plan mode presents its plan. */
export const PLAN_TOOL = 'present_plan';
/** Ids of its options, by the mode in which the work starts. */
export const PLAN_OPTIONS: Readonly<Record<Exclude<PermissionMode, 'plan'>, string>> = {
  ask: 'start-ask',
  'accept-edits': 'start-accept-edits',
  auto: 'start-auto',
};

/** True for a plan. A question with that name is one only if it has the answers that start the work. */
export function asksAboutPlan({
  toolName,
  options,
}: Pick<ToolCallPendingConfirmationState, 'toolName' | 'options'>): boolean {
  return toolName === PLAN_TOOL && options?.some(({ id }) => id === PLAN_OPTIONS.ask) === true;
}
