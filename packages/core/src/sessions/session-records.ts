/**
 * Small facts about a session that are not part of its state: deferred actions, permissions, its agent's memory, who
 * named it. They are records of the log, and are deleted with the session.
 */
import { RULE_EFFECTS, type RuleEffect, type SessionAction } from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import type { FolderPlace } from '../contracts/folder-places.js';
import { type EntryOrigin, type JsonText, jsonText, type Log } from '../log/log.js';
import { RULES_MAX } from '../permissions/limits.js';
import { parseRule, type Rule } from '../permissions/rules.js';
import { isRecord } from '../util/shape.js';
import type { DeferredAction } from './deferred-actions.js';

/** Sessions that are at work. One found at the start was cut off by a crash. */
const ACTIVE = 'active:';
/** Actions that wait for the end of a session's turn. Data folders of every version use this key. */
const DEFERRED = 'held:';
/** Turns that a leaving host left to the next one, by chat. */
const HANDED_OVER = 'left-turn:';
/** Tools that a person allowed for the rest of a session. */
const ALLOWED = 'allowed:';
/** Sessions whose title a person chose. */
const NAMED = 'named:';
/** How often the host has asked a model for a title; it stops at `TITLE_ATTEMPTS_MAX`. */
const TITLED = 'titled:';
/** What a session's agent wants to find again. */
const AGENT = 'agent:';
/** The model that a session had before that of its custom agent. */
const MODEL_BEFORE = 'model-before:';
/** Where a session's folder is, when several hosts share the log. */
const FOLDER = 'folder:';
/** The host that ran a session's programs last, when several hosts share the log. */
const LAST_HOST = 'last-host:';
/** URIs of unfinished imports and forks, under which turns are already stored; with the time when that began. */
const UNFINISHED = 'unfinished:';

const ALL = [
  ACTIVE,
  DEFERRED,
  HANDED_OVER,
  ALLOWED,
  NAMED,
  TITLED,
  AGENT,
  MODEL_BEFORE,
  FOLDER,
  LAST_HOST,
  UNFINISHED,
] as const;

export class SessionRecords {
  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  /** Records whether a session is at work, so that a crash can be told from a rest. */
  setActive(uri: string, active: boolean): void {
    this.#note(ACTIVE + uri, active ? jsonText(1) : undefined);
  }

  /** The sessions that were at work when the host last stopped. */
  async interrupted(): Promise<string[]> {
    return (await this.log.records(ACTIVE)).map(({ key }) => key.slice(ACTIVE.length));
  }

  /** Records the actions that wait for the end of a session's turn. */
  setDeferred(uri: string, deferred: readonly DeferredAction[]): void {
    this.#note(DEFERRED + uri, deferred.length > 0 ? jsonText(deferred) : undefined);
  }

  async deferred(uri: string): Promise<DeferredAction[]> {
    return JSON.parse((await this.log.record(DEFERRED + uri)) ?? '[]');
  }

  /** Records the tools that a person allowed for the rest of a session. */
  setAllowed(uri: string, tools: readonly string[]): void {
    this.#note(ALLOWED + uri, jsonText(tools));
  }

  async allowed(uri: string): Promise<string[]> {
    return JSON.parse((await this.log.record(ALLOWED + uri)) ?? '[]');
  }

  /** Records the turn of a chat that this host leaves to the next one; undefined: a host begins it. */
  setHandedOverTurn(ownKey: string, turnId: string | undefined): void {
    this.#note(HANDED_OVER + ownKey, turnId === undefined ? undefined : jsonText(turnId));
  }

  /** The turns that the previous host left to this one, by the key of their chat. */
  async handedOverTurns(): Promise<ReadonlyMap<string, string>> {
    const records = await this.log.records(HANDED_OVER);
    return new Map(records.map(({ key, value }) => [key.slice(HANDED_OVER.length), JSON.parse(value)]));
  }

  /** Records that a person chose a session's title. */
  setNamed(uri: string): void {
    this.#note(NAMED + uri, jsonText(1));
  }

  async isNamed(uri: string): Promise<boolean> {
    return (await this.log.record(NAMED + uri)) !== undefined;
  }

  /** Records how often the host has asked for a title. */
  setTitleAttempts(uri: string, count: number): void {
    this.#note(TITLED + uri, jsonText(count));
  }

  async titleAttempts(uri: string): Promise<number> {
    return Number((await this.log.record(TITLED + uri)) ?? 0);
  }

  setAgentMemory(uri: string, value: JsonText | undefined): void {
    this.#note(AGENT + uri, value);
  }

  agentMemory(uri: string): Promise<string | undefined> {
    return this.log.record(AGENT + uri);
  }

  setFolderPlace(uri: string, place: FolderPlace | undefined): void {
    this.#note(FOLDER + uri, place && jsonText(place));
  }

  async folderPlace(uri: string): Promise<FolderPlace | undefined> {
    const text = await this.log.record(FOLDER + uri);
    return text === undefined ? undefined : JSON.parse(text);
  }

  setLastHost(uri: string, host: string): void {
    this.#note(LAST_HOST + uri, jsonText(host));
  }

  async lastHost(uri: string): Promise<string | undefined> {
    const text = await this.log.record(LAST_HOST + uri);
    return text === undefined ? undefined : JSON.parse(text);
  }

  setModelBefore(uri: string, model: object | undefined): void {
    this.#note(MODEL_BEFORE + uri, model && jsonText(model));
  }

  async modelBefore(uri: string): Promise<object | undefined> {
    const text = await this.log.record(MODEL_BEFORE + uri);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Records since when a session is being imported or copied; undefined: it is complete. */
  setUnfinished(uri: string, since: number | undefined): void {
    this.#note(UNFINISHED + uri, since === undefined ? undefined : jsonText(since));
  }

  async unfinished(): Promise<{ uri: string; since: number }[]> {
    const records = await this.log.records(UNFINISHED);
    return records.map(({ key, value }) => ({ uri: key.slice(UNFINISHED.length), since: Number(value) }));
  }

  /** Removes all records of a session that is gone for good. */
  forget(uri: string): void {
    for (const kind of ALL) this.#note(kind + uri, undefined);
  }

  #note(key: string, value: JsonText | undefined): void {
    this.writer.record({ key, value: value ?? null });
  }
}

export interface AllowedTool {
  /** The extension that offers the tool; absent for the host's own. A permission for one extension covers no other. */
  readonly owner?: string | undefined;
  /** Tells apart owners that may use the same name one after another. */
  readonly identity?: string | undefined;
  readonly name: string;
}

/**
 * The tools that a person allowed for the rest of a session. They stay allowed when the session leaves memory, and over
 * restarts.
 */
export class ToolPermissions {
  readonly #records: SessionRecords;
  readonly #uri: string;
  readonly #keys = new Set<string>();
  #rules: readonly Rule[] | undefined;

  constructor(records: SessionRecords, uri: string) {
    this.#records = records;
    this.#uri = uri;
  }

  /** Loads what was allowed before the session last left memory. */
  async load(): Promise<void> {
    for (const key of await this.#records.allowed(this.#uri)) this.#keys.add(key);
    this.#rules = undefined;
  }

  has(tool: AllowedTool): boolean {
    return this.#keys.has(keyOf(tool));
  }

  add(tool: AllowedTool): void {
    if (this.has(tool)) return;
    this.#keys.add(keyOf(tool));
    this.#store();
  }

  /** The tools that were allowed as a whole. */
  tools(): readonly AllowedTool[] {
    return [...this.#keys].flatMap((key) => {
      const value: unknown = JSON.parse(key);
      if (!Array.isArray(value)) return [];
      const [owner, name, identity] = value;
      return [
        { name: String(name), ...(owner && { owner: String(owner) }), ...(identity && { identity: String(identity) }) },
      ];
    });
  }

  remove(tool: AllowedTool): boolean {
    return this.#drop(keyOf(tool));
  }

  /** The session's own permission rules. In the same record, tools are stored as lists and rules as objects. */
  rules(): readonly Rule[] {
    this.#rules ??= [...this.#keys].flatMap((key) => ruleIn(key) ?? []);
    return this.#rules;
  }

  addRules(effect: RuleEffect, texts: readonly string[]): void {
    const keys = texts.map((rule) => JSON.stringify({ effect, rule }));
    if (this.rules().length + keys.length > RULES_MAX) throw new Error(`a session has ${RULES_MAX} rules at most`);
    for (const key of keys) this.#keys.add(key);
    this.#store();
  }

  removeRule(effect: RuleEffect, rule: string): boolean {
    return this.#drop(JSON.stringify({ effect, rule }));
  }

  #drop(key: string): boolean {
    const wasThere = this.#keys.delete(key);
    if (wasThere) this.#store();
    return wasThere;
  }

  #store(): void {
    this.#rules = undefined;
    this.#records.setAllowed(this.#uri, [...this.#keys]);
  }
}

function ruleIn(key: string): Rule | undefined {
  const value: unknown = JSON.parse(key);
  if (!isRecord(value) || typeof value.rule !== 'string') return undefined;
  const effect = RULE_EFFECTS.find((each) => each === value.effect);
  return effect && parseRule(value.rule, effect, 'session');
}

/** The key of a tool. Names may contain any character, so joining them would not be unique. */
function keyOf({ owner = '', name, identity }: AllowedTool): string {
  return JSON.stringify(identity === undefined ? [owner, name] : [owner, name, identity]);
}

/** Who chose a session's title. Once a person has, agents do not change it, not even after a restart. */
export class Naming {
  #isByPerson = false;

  constructor(
    private readonly records: SessionRecords,
    private readonly uri: string,
  ) {}

  get isByPerson(): boolean {
    return this.#isByPerson;
  }

  /** Loads whether a person chose the title. */
  async load(): Promise<void> {
    if (await this.records.isNamed(this.uri)) this.#isByPerson = true;
  }

  /** Looks at every action; only those of clients have an origin. */
  observe({ type }: SessionAction, origin: EntryOrigin | undefined): void {
    if (type !== 'session/titleChanged' || !origin || this.#isByPerson) return;
    this.#isByPerson = true;
    this.records.setNamed(this.uri);
  }
}
