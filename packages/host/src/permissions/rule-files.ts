/**
 * Rules in files: `permissions.json` in the data folder (the operator's), the person's own configuration, and
 * `atrium.json` of a project. Changed files are read again. What a project allows counts only if a person has trusted
 * exactly that rule in that folder; what it denies or asks about always counts. For an unreadable file every call is
 * asked about, because it may hold rules that forbid.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type ParsedRules, parseRules, type Rule, type RuleTexts, ruleText } from '@atrium/core/permissions/rules.js';
import type { PermissionStore, RulePlace, StoredRules } from '@atrium/core/permissions/store.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { type ListedRule, RULE_EFFECTS, type RuleEffect, type RuleScope } from '@atrium/protocol/ahp-1';
import type * as Jsonc from 'jsonc-parser';
import { CONFIG_MAX_BYTES, PROJECT_FILE } from '../config/config-file.js';
import type { FolderTrust } from '../plugins/trust/folder-trust.js';
import { ruleProgram } from '../plugins/trust/programs.js';
import { addRules, removeRule } from './edit-rules.js';
import { projectFolderOf } from './project-folder.js';
import type { RuleUses } from './rule-uses.js';

export interface RuleFilesOptions {
  /** The operator's file, which holds only the lists. */
  readonly hostFile?: string | undefined;
  /** The configuration of the person. */
  readonly personFile?: string | undefined;
  readonly trust: Pick<FolderTrust, 'isTrusted' | 'allows' | 'trust'>;
  readonly uses: RuleUses;
}

interface ReadFile extends ParsedRules {
  readonly version: string;
}

interface Source {
  readonly file: string;
  readonly scope: Exclude<RuleScope, 'session' | 'built-in'>;
  readonly folder?: string;
  /** The main folder of the project, where `folder` is in one of its worktrees: what is trusted there counts here. */
  readonly main?: string;
}

export class RuleFiles implements PermissionStore {
  readonly #options: RuleFilesOptions;
  readonly #read = new Map<string, ReadFile>();

  constructor(options: RuleFilesOptions) {
    this.#options = options;
  }

  #sources(folders: readonly string[]): Source[] {
    const { hostFile, personFile } = this.#options;
    return [
      ...(hostFile === undefined ? [] : [{ file: hostFile, scope: 'host' as const }]),
      ...(personFile === undefined ? [] : [{ file: personFile, scope: 'person' as const }]),
      ...folders.flatMap((folder) => projectSources(folder)),
    ];
  }

  rulesFor(folders: readonly string[], asksTrust: boolean): StoredRules | Promise<StoredRules> {
    if (!parser && this.#sources(folders).some(({ file }) => versionOf(file) !== undefined))
      return loadParser().then(() => this.rulesFor(folders, asksTrust));
    const found = this.#sources(folders).flatMap((source) =>
      this.#rulesIn(source).rules.map((rule) => ({ rule, source })),
    );
    const isProjects = found.some(({ rule, source }) => source.scope === 'project' && rule.effect === 'allow');
    if (isProjects || asksTrust) return this.#counting(found, folders);
    return { rules: found.map(({ rule }) => rule), isTrusted: false };
  }

  async #counting(found: readonly { rule: Rule; source: Source }[], [first]: readonly string[]): Promise<StoredRules> {
    const counting = await Promise.all(found.map(({ rule, source }) => this.#ifCounts(rule, source)));
    const isTrusted = first !== undefined && (await this.#options.trust.isTrusted(first));
    return { rules: counting.flat(), isTrusted };
  }

  async #ifCounts(rule: Rule, source: Source): Promise<Rule[]> {
    return (await this.#idle(rule, source)) === undefined ? [rule] : [];
  }

  /** Why a rule does not count; undefined when it does. */
  async #idle(rule: Rule, { scope, folder, main }: Source): Promise<string | undefined> {
    if (scope !== 'project' || rule.effect !== 'allow' || folder === undefined) return undefined;
    const { trust } = this.#options;
    const { digest } = ruleProgram(ruleText(rule));
    const isTrusted =
      (await trust.allows(folder, digest)) || (main !== undefined && (await trust.allows(main, digest)));
    return isTrusted ? undefined : 'no person has trusted this rule in this folder: see "atrium trust"';
  }

  /** Lists all rules and their origins, for people. */
  async list(folders: readonly string[]): Promise<{ rules: ListedRule[]; problems: string[] }> {
    await loadParser();
    const listed = await Promise.all(
      this.#sources(folders).map(async (source) => {
        const { rules, problems } = this.#rulesIn(source);
        const known = source.main === undefined ? [] : this.#rulesIn(mainSource(source.main)).rules;
        const fresh = rules.filter((rule) => !known.some((other) => isSame(rule, other)));
        const items = await Promise.all(fresh.map((rule) => this.#listed(rule, source)));
        return { items, problems: problems.map((problem) => `${source.file}: ${problem}`) };
      }),
    );
    return { rules: listed.flatMap(({ items }) => items), problems: listed.flatMap(({ problems }) => problems) };
  }

  async #listed(rule: Rule, source: Source): Promise<ListedRule> {
    const isIdle = await this.#idle(rule, source);
    const lastUsed = this.#options.uses.lastUse(rule, source.main ?? source.folder ?? '');
    return {
      ...{ effect: rule.effect, rule: ruleText(rule), scope: source.scope, from: source.file },
      ...(lastUsed !== undefined && { lastUsed }),
      ...(isIdle !== undefined && { isIdle }),
    };
  }

  writable([first]: readonly string[]): readonly ('project' | 'person')[] {
    return [
      ...(first === undefined ? [] : ['project' as const]),
      ...(this.#options.personFile === undefined ? [] : ['person' as const]),
    ];
  }

  async add({ scope, effect, folders }: RulePlace, texts: readonly string[]): Promise<void> {
    const { trust } = this.#options;
    const file = this.#fileOf(scope, folders);
    await addRules(file, effect, texts);
    const [folder] = folders;
    if (scope === 'project' && effect === 'allow' && folder !== undefined)
      await trust.trust(
        projectFolderOf(folder),
        texts.map((text) => ruleProgram(text).digest),
      );
  }

  /** Removes a rule of a project from the file of a worktree as well, where it would go on to count. */
  async remove({ scope, effect, folders }: RulePlace, text: string): Promise<boolean> {
    const wasThere = await removeRule(this.#fileOf(scope, folders), effect, text);
    const [folder] = folders;
    const isElsewhere = scope === 'project' && folder !== undefined && projectFolderOf(folder) !== folder;
    if (!isElsewhere) return wasThere;
    return (await removeRule(path.join(folder, PROJECT_FILE), effect, text)) || wasThere;
  }

  #fileOf(scope: RulePlace['scope'], [folder]: readonly string[]): string {
    const file =
      scope === 'person' ? this.#options.personFile : folder && path.join(projectFolderOf(folder), PROJECT_FILE);
    if (file === undefined) throw new Error(`there is no file for rules of a ${scope} here`);
    return file;
  }

  used(rules: readonly Rule[], owner: string, folders: readonly string[]): void {
    for (const rule of rules) {
      if (rule.scope === 'built-in') continue;
      const places = rule.scope === 'project' ? folders.map(projectFolderOf) : [rule.scope === 'session' ? owner : ''];
      for (const place of places) this.#options.uses.used(rule, place);
    }
  }

  /** The files are small and needed before every call, so the host checks them each time instead of watching them. */
  #rulesIn({ file, scope }: Source): ParsedRules {
    const version = versionOf(file);
    if (version === undefined) return NO_RULES;
    const known = this.#read.get(file);
    if (known?.version === version) return known;
    const read = { ...rulesIn(file, scope), version };
    if (this.#read.size > 1_000) this.#read.clear();
    this.#read.set(file, read);
    return read;
  }
}

/** The file of the folder, and for a worktree that of the main folder as well. */
function projectSources(folder: string): Source[] {
  const main = projectFolderOf(folder);
  if (main === folder) return [mainSource(folder)];
  return [mainSource(main), { ...mainSource(folder), main }];
}

function mainSource(folder: string): Source {
  return { file: path.join(folder, PROJECT_FILE), scope: 'project', folder };
}

function isSame(one: Rule, other: Rule): boolean {
  return one.effect === other.effect && ruleText(one) === ruleText(other);
}

/** Loaded only on hosts that have a file of rules. */
let parser: typeof Jsonc | undefined;

async function loadParser(): Promise<void> {
  parser ??= await import('jsonc-parser');
}

const NO_RULES: ParsedRules = { rules: [], problems: [] };

/** Undefined when the file does not exist. */
function versionOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.isFile()}`;
}

function rulesIn(file: string, scope: Source['scope']): ParsedRules {
  try {
    return parseRules(textsIn(file, scope), scope);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      rules: [{ effect: 'ask', tool: '*', scope }],
      problems: [`cannot be read, so every call is asked about: ${why}`],
    };
  }
}

function textsIn(file: string, scope: Source['scope']): RuleTexts {
  const stat = statSync(file);
  if (!stat.isFile()) throw new Error('it is not a file');
  if (stat.size > CONFIG_MAX_BYTES) throw new Error(`it is larger than ${CONFIG_MAX_BYTES} bytes`);
  if (!parser) throw new Error('the parser is not loaded');
  const errors: Jsonc.ParseError[] = [];
  const tree = parser.parseTree(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), errors, {
    allowTrailingComma: true,
  });
  if (errors.length > 0) throw new Error('it is not JSON');
  const value: unknown = tree ? parser.getNodeValue(tree) : {};
  const lists = isRecord(value) ? (scope === 'host' ? (value.permissions ?? value) : value.permissions) : undefined;
  if (lists === undefined) return {};
  if (!isRecord(lists)) throw new Error('"permissions" must be an object with the lists allow, ask and deny');
  return Object.fromEntries(RULE_EFFECTS.map((effect) => [effect, textsOf(lists[effect], effect)]));
}

function textsOf(list: unknown, effect: RuleEffect): readonly string[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
    throw new Error(`"${effect}" must be a list of texts`);
  return list;
}
