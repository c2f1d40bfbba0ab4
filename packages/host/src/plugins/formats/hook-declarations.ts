/** Hooks: commands that run at certain moments, from a hooks file or from the manifest itself. */

import { isRecord } from '@atrium/core/util/shape.js';
import type { TextRange } from '@atrium/protocol/ahp-1';
import { itemsOf, type JsonFile, type JsonNode, memberOf, membersOf, parseJson, plainValue } from './json.js';
import { HOOK_MATCHER_MAX_CHARACTERS, HOOK_TIMEOUT_MAX_SECONDS } from './limits.js';
import { childId, configFiles, type LoadContext, type PartBase, present } from './load-context.js';
import type { ComponentLocations } from './manifest.js';
import {
  type ExpansionContext,
  expand,
  expandInShell,
  fullLookup,
  pluginLookup,
  reservedVariables,
  textMap,
  withoutMachine,
} from './placeholders.js';

export interface HookPart extends PartBase {
  readonly range: TextRange;
  readonly event: HookEvent;
  /** A regular expression for the subject of the event; absent when the hook always runs. */
  readonly matcher?: string;
  readonly action: HookAction;
  /** The action as it is written, without values of this machine, for people to judge. */
  readonly declared: HookAction;
}

/** Hooks in the manifest replace those in files. */
export async function loadHooks(
  context: LoadContext,
  { locations, inline }: ComponentLocations,
  manifest: JsonFile | undefined,
): Promise<readonly HookPart[]> {
  const own = inline && manifest ? hooksIn(context, manifest, inline) : [];
  if (own.length > 0) return own;
  return hooksInFiles(context, await configFiles(context, locations, 'hooks.json'));
}

export async function hooksInFiles(context: LoadContext, paths: readonly string[]): Promise<readonly HookPart[]> {
  const hooks: HookPart[] = [];
  for (const path of paths) {
    const text = await context.reader.read(path);
    if (text === undefined) continue;
    const json = parseJson(text, 'tolerant');
    if ('problem' in json) context.warnings.add('manifest-field-invalid', `${path} ${json.problem}.`, path);
    else hooks.push(...hooksIn(context, { path, json }, json.root));
  }
  return hooks;
}

/** Some files omit the outer `hooks`. */
function hooksIn(context: LoadContext, file: JsonFile, root: JsonNode): readonly HookPart[] {
  if (memberOf(root, 'disableAllHooks')?.value === true) return [];
  const outer = memberOf(root, 'hooks');
  const counts = new Map<HookEvent, number>();
  return membersOf(outer?.type === 'object' ? outer : root).flatMap(({ key, value }) => {
    if (value.type !== 'array') return [];
    const event = hookEvent(key);
    if (event) return declarationsOf(value).map((declared) => hookOf(context, file, event, declared, counts));
    context.warnings.add('hook-event-unknown', `${file.path} has hooks for an event that is not known.`, file.path);
    return [];
  });
}

interface Declaration {
  readonly action: JsonNode;
  readonly matcher: JsonNode | undefined;
}

/** Actions are in groups with a common matcher, or stand alone. */
function declarationsOf(groups: JsonNode): readonly Declaration[] {
  return itemsOf(groups).flatMap((group) => {
    const matcher = memberOf(group, 'matcher');
    const actions = memberOf(group, 'hooks');
    return actions?.type === 'array'
      ? itemsOf(actions).map((action) => ({ action, matcher }))
      : [{ action: group, matcher }];
  });
}

function hookOf(
  context: LoadContext,
  { path, json }: JsonFile,
  event: HookEvent,
  declared: Declaration,
  counts: Map<HookEvent, number>,
): HookPart {
  const ordinal = (counts.get(event) ?? 0) + 1;
  counts.set(event, ordinal);
  const uri = context.reader.uri(path);
  const name = `${event} ${ordinal}`;
  const matcher = matcherOf(declared.matcher);
  const read = (expansion: ExpansionContext) =>
    matcher.problem ?? hookAction(plainValue(declared.action), expansion, context.isStrict);
  const action = read(context.expansion);
  if (action.kind === 'unsupported') {
    const kind = matcher.problem ? 'hook-regex-invalid' : 'hook-action-unsupported';
    context.warnings.add(kind, `${path}: the hook ${name} ${action.reason}; it will not run.`, path);
  }
  return {
    id: childId(context.containerId, uri, `hook=${event}:${ordinal}`),
    uri,
    range: json.rangeOf(declared.action),
    name,
    event,
    ...present({ matcher: matcher.pattern }),
    action,
    declared: read(withoutMachine(context.expansion)),
  };
}

interface Matcher {
  readonly pattern?: string;
  readonly problem?: HookAction & { readonly kind: 'unsupported' };
}

/** Checks only that it is a regular expression. A stranger wrote it, so it is later evaluated within a budget. */
function matcherOf(node: JsonNode | undefined): Matcher {
  const pattern = plainValue(node);
  if (pattern === undefined || pattern === null || pattern === '' || pattern === '*') return {};
  if (typeof pattern !== 'string' || pattern.length > HOOK_MATCHER_MAX_CHARACTERS) return invalidMatcher();
  try {
    new RegExp(pattern);
    return { pattern };
  } catch {
    return invalidMatcher();
  }
}

function invalidMatcher(): Matcher {
  return { problem: { kind: 'unsupported', reason: 'has a matcher that is not a regular expression' } };
}

type HookAction = HookCommand | UnsupportedAction;

export interface HookCommand {
  readonly kind: 'command';
  /** A command line for the shell. */
  readonly command: string;
  readonly shell: 'default' | 'bash' | 'powershell';
  /** Absent: the session's working directory. */
  readonly cwd?: string;
  /** Variables to add to the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

interface UnsupportedAction {
  readonly kind: 'unsupported';
  /** Completes a sentence that begins with the hook's name. */
  readonly reason: string;
}

function hookAction(value: unknown, expansion: ExpansionContext, isStrict: boolean): HookAction {
  if (!isRecord(value)) return unsupported('is not an object');
  const type = value.type ?? 'command';
  if (type !== 'command') return unsupported(`has an action that this host does not run (${shown(type)})`);
  const line = commandFor(value, expansion.platform);
  if (!line) return unsupported(`has no command for this system (${expansion.platform})`);
  const isWindows = expansion.platform === 'win32';
  const lookup = fullLookup(expansion, isStrict);
  const { cwd } = value;
  return {
    kind: 'command',
    // The shell itself expands environment variables.
    command: expandInShell(line.command, pluginLookup(expansion, isStrict), isWindows),
    shell: line.shell,
    ...present({ cwd: typeof cwd === 'string' && cwd !== '' ? expand(cwd, lookup) : undefined }),
    env: { ...textMap(value.env, (text) => expand(text, lookup)), ...reservedVariables(expansion) },
    ...present({ timeoutMs: timeoutOf(value.timeout ?? value.timeoutSec) }),
  };
}

function unsupported(reason: string): UnsupportedAction {
  return { kind: 'unsupported', reason };
}

/** Quotes only a short word, because clients must not see the rest of an action. */
function shown(type: unknown): string {
  return typeof type === 'string' && /^[\w-]{1,20}$/.test(type) ? type : 'unknown type';
}

type Line = Pick<HookCommand, 'command' | 'shell'>;

/** Prefers the command for this system, then the one for its usual shell, then the general one. */
function commandFor(action: Readonly<Record<string, unknown>>, platform: NodeJS.Platform): Line | undefined {
  const isWindows = platform === 'win32';
  const system = isWindows ? 'windows' : platform === 'darwin' ? 'osx' : 'linux';
  const shell = isWindows ? 'powershell' : 'bash';
  const choices: readonly (readonly [unknown, HookCommand['shell']])[] = [
    [action[system], 'default'],
    [action[shell], shell],
    [action.command, 'default'],
  ];
  for (const [command, itsShell] of choices) {
    if (typeof command === 'string' && command.trim() !== '') return { command, shell: itsShell };
  }
  return undefined;
}

function timeoutOf(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number' || !(seconds > 0)) return undefined;
  return Math.ceil(Math.min(seconds, HOOK_TIMEOUT_MAX_SECONDS) * 1_000);
}

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

/** Copilot's names for events. */
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
function hookEvent(name: string): HookEvent | undefined {
  return BY_NAME.get(name);
}
