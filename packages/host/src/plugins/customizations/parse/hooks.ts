/** Hooks: what runs at certain moments, from a hooks file or from the manifest itself. */
import type { TextRange } from '@atrium/protocol';
import { configFiles } from './component-files.js';
import { type HookAction, hookAction } from './hook-action.js';
import { type HookEvent, hookEvent } from './hook-events.js';
import { childId } from './ids.js';
import { itemsOf, type JsonFile, type JsonNode, memberOf, membersOf, parseJson, plainValue } from './json.js';
import { HOOK_MATCHER_MAX_CHARACTERS } from './limits.js';
import type { Locations } from './locations.js';
import { type Surroundings, withoutMachine } from './placeholders.js';
import { present } from './present.js';
import type { PartBase, Source } from './source.js';

export interface HookPart extends PartBase {
  readonly range: TextRange;
  readonly event: HookEvent;
  /** A regular expression for what the event is about; absent when the hook runs each time. */
  readonly matcher?: string;
  readonly action: HookAction;
  /** The same before anything of this machine is put in: what a person judges. */
  readonly declared: HookAction;
}

/** Hooks in the manifest replace those in files. */
export async function loadHooks(
  source: Source,
  { places, inline }: Locations,
  manifest: JsonFile | undefined,
): Promise<readonly HookPart[]> {
  const own = inline && manifest ? hooksIn(source, manifest, inline) : [];
  if (own.length > 0) return own;
  return hooksInFiles(source, await configFiles(source, places, 'hooks.json'));
}

export async function hooksInFiles(source: Source, paths: readonly string[]): Promise<readonly HookPart[]> {
  const hooks: HookPart[] = [];
  for (const path of paths) {
    const text = await source.reader.read(path);
    if (text === undefined) continue;
    const json = parseJson(text, 'tolerant');
    if ('problem' in json) source.warnings.add('manifest-field-invalid', `${path} ${json.problem}.`, path);
    else hooks.push(...hooksIn(source, { path, json }, json.root));
  }
  return hooks;
}

/** Some files leave out the outer `hooks`. */
function hooksIn(source: Source, file: JsonFile, root: JsonNode): readonly HookPart[] {
  if (memberOf(root, 'disableAllHooks')?.value === true) return [];
  const outer = memberOf(root, 'hooks');
  const counts = new Map<HookEvent, number>();
  return membersOf(outer?.type === 'object' ? outer : root).flatMap(({ key, value }) => {
    if (value.type !== 'array') return [];
    const event = hookEvent(key);
    if (event) return declarationsOf(value).map((declared) => hookOf(source, file, event, declared, counts));
    source.warnings.add('hook-event-unknown', `${file.path} has hooks for an event that is not known.`, file.path);
    return [];
  });
}

interface Declaration {
  readonly action: JsonNode;
  readonly matcher: JsonNode | undefined;
}

/** Actions are in groups with a common matcher, or stand by themselves. */
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
  source: Source,
  { path, json }: JsonFile,
  event: HookEvent,
  declared: Declaration,
  counts: Map<HookEvent, number>,
): HookPart {
  const ordinal = (counts.get(event) ?? 0) + 1;
  counts.set(event, ordinal);
  const uri = source.reader.uri(path);
  const name = `${event} ${ordinal}`;
  const matcher = matcherOf(declared.matcher);
  const read = (surroundings: Surroundings) =>
    matcher.problem ?? hookAction(plainValue(declared.action), surroundings, source.isStrict);
  const action = read(source.surroundings);
  if (action.kind === 'unsupported') {
    const kind = matcher.problem ? 'hook-regex-invalid' : 'hook-action-unsupported';
    source.warnings.add(kind, `${path}: the hook ${name} ${action.reason}; it will not run.`, path);
  }
  return {
    id: childId(source.containerId, uri, `hook=${event}:${ordinal}`),
    uri,
    range: json.rangeOf(declared.action),
    name,
    event,
    ...present({ matcher: matcher.pattern }),
    action,
    declared: read(withoutMachine(source.surroundings)),
  };
}

interface Matcher {
  readonly pattern?: string;
  readonly problem?: HookAction & { readonly kind: 'unsupported' };
}

/** Only whether it is a regular expression at all; using one that a stranger wrote takes more care than that. */
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
