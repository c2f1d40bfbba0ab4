/**
 * Adds and removes rules in a file that people write by hand, and leaves comments, order and everything else as they
 * are. The file is replaced as a whole, under a lock that every Atrium process takes, and only if nobody else has
 * changed it meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RuleEffect } from '@atrium/protocol/ahp-1';
import type * as Jsonc from 'jsonc-parser';

/** How long to wait for another process that is changing the same file. */
const LOCK_WAIT_MS = 3_000;
/** An older lock was left behind by a process that died. */
const LOCK_STALE_MS = 10_000;
const LOCK_POLL_MS = 20;
/** How often a change is repeated because someone else changed the file meanwhile. */
const ATTEMPTS_MAX = 5;

const MEMBER = 'permissions';

export function addRules(file: string, effect: RuleEffect, texts: readonly string[]): Promise<void> {
  return changed(file, (before, jsonc) =>
    texts.reduce((text, rule) => {
      const list = listIn(jsonc, text, effect);
      if (list.includes(rule)) return text;
      const at =
        list.length === 0
          ? { place: [MEMBER, effect], value: [rule] }
          : { place: [MEMBER, effect, list.length], value: rule };
      return edited(jsonc, text, at.place, at.value);
    }, before),
  ).then(() => {});
}

/** Returns whether the rule was there. */
export function removeRule(file: string, effect: RuleEffect, rule: string): Promise<boolean> {
  return changed(file, (text, jsonc) => {
    const at = listIn(jsonc, text, effect).findIndex((each) => each.trim() === rule);
    return at < 0 ? text : edited(jsonc, text, [MEMBER, effect, at], undefined);
  });
}

function listIn(jsonc: typeof Jsonc, text: string, effect: RuleEffect): readonly string[] {
  const errors: Jsonc.ParseError[] = [];
  const tree = jsonc.parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || tree?.type !== 'object') throw new Error('it is not JSON; correct it first');
  const node = jsonc.findNodeAtLocation(tree, [MEMBER, effect]);
  const list: unknown = node ? jsonc.getNodeValue(node) : [];
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string'))
    throw new Error(`"${effect}" must be a list of texts`);
  return list;
}

function edited(jsonc: typeof Jsonc, text: string, place: (string | number)[], value: unknown): string {
  const formattingOptions = {
    insertSpaces: !/^\t/m.test(text),
    tabSize: indentOf(text),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return jsonc.applyEdits(text, jsonc.modify(text, place, value, { formattingOptions }));
}

function indentOf(text: string): number {
  return /^( +)"/m.exec(text)?.[1]?.length ?? 2;
}

/** Returns whether the file changed. */
async function changed(named: string, change: (text: string, jsonc: typeof Jsonc) => string): Promise<boolean> {
  const jsonc = await import('jsonc-parser');
  // The file may be a link into a folder of settings, and must stay one.
  const file = await realpath(named).catch(() => named);
  await mkdir(path.dirname(file), { recursive: true });
  const release = await locked(file);
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const before = await textOf(file);
      let after: string;
      try {
        after = change(before ?? '{}\n', jsonc);
      } catch (error) {
        throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
      }
      if (after === (before ?? '{}\n')) return false;
      if (await replaced(file, before, after.endsWith('\n') ? after : `${after}\n`)) return true;
    }
    throw new Error(`${file} is being changed by another program; try again`);
  } finally {
    await release();
  }
}

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** False when the file is no longer as it was read. */
async function replaced(file: string, before: string | undefined, after: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  const mode = (await stat(file).catch(() => undefined))?.mode;
  try {
    await writeFile(draft, after, { flag: 'wx', ...(mode !== undefined && { mode: mode & 0o777 }) });
    const handle = await open(draft, 'r+');
    await handle.sync().finally(() => handle.close());
    if ((await textOf(file)) !== before) return false;
    await rename(draft, file);
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

async function locked(file: string): Promise<() => Promise<void>> {
  const lock = `${file}.lock`;
  const until = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      await (await open(lock, 'wx')).close();
      return () => rm(lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const made = (await stat(lock).catch(() => undefined))?.mtimeMs;
    if (made !== undefined && Date.now() - made > LOCK_STALE_MS) await rm(lock, { force: true });
    else if (Date.now() > until) throw new Error(`${file} is locked by another process; if none runs, remove ${lock}`);
    else await wait(LOCK_POLL_MS);
  }
}
