import { readFileSync } from 'node:fs';
import { recordText } from '@atrium/core/log/check-commit.js';
import type { LogRecord } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import {
  InterruptedCommands,
  STORED_BLOCK_CHARACTERS,
  STORED_OUTPUT_MAX_CHARACTERS,
  StoredCommand,
} from '@atrium/core/sessions/running-commands.js';
import { groupsWith } from '@atrium/core/util/processes.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';

const PLACE = { owner: 'ahp-session:/s', toolCallId: 'call 1' };

/** Records as a log would hold them, and a commit that can be made to fail. */
class Records {
  readonly stored = new Map<string, string>();
  #batch: LogRecord[] = [];
  #failed: ((error: Error) => void)[] = [];

  record(record: LogRecord): void {
    this.#batch.push(record);
  }

  afterFailure(callback: (error: Error) => void): void {
    this.#failed.push(callback);
  }

  commit(): void {
    for (const { key, value } of this.#batch) {
      if (value === null) this.stored.delete(key);
      else this.stored.set(key, recordText(value, 1));
    }
    this.#batch = [];
    this.#failed = [];
  }

  fail(): void {
    this.#batch = [];
    for (const callback of this.#failed.splice(0)) callback(new Error('the disk is full'));
  }

  /** What a host finds that starts now. */
  async found(): Promise<string | undefined> {
    const log = new MemoryLog();
    const records = [...this.stored].map(([key, value]) => ({ key, value }));
    await log.append({ entries: [], records, durability: 'normal' });
    const commands = new InterruptedCommands();
    await commands.load(log, new FakeClock());
    return commands.of(PLACE)?.output;
  }
}

describe('the output of a running command in the log', () => {
  it('[REL-062] is found as it was written, in order, whatever its pieces were', async () => {
    const records = new Records();
    const command = new StoredCommand(records, PLACE);
    command.environment();
    const pieces = ['a', 'b'.repeat(STORED_BLOCK_CHARACTERS), '\ud83d', '\ude00', 'c'.repeat(100), 'd'];
    for (const piece of pieces) {
      command.output(piece);
      command.store();
      records.commit();
    }
    expect(await records.found()).toBe(pieces.join(''));
    command.forget();
    command.output('too late');
    command.store();
    records.commit();
    expect(records.stored.size).toBe(0);
  });

  it('[REL-062] is bounded: the oldest goes, the newest stays', async () => {
    const records = new Records();
    const command = new StoredCommand(records, PLACE);
    let all = '';
    for (let line = 0; all.length < 3 * STORED_OUTPUT_MAX_CHARACTERS; line++) {
      const text = `line ${line} `.repeat(300);
      all += text;
      command.output(text);
      command.store();
      records.commit();
    }
    const found = (await records.found()) ?? '';
    expect(found.length).toBeGreaterThanOrEqual(STORED_OUTPUT_MAX_CHARACTERS);
    expect(found.length).toBeLessThan(STORED_OUTPUT_MAX_CHARACTERS + 2 * STORED_BLOCK_CHARACTERS);
    expect(all.endsWith(found)).toBe(true);
    command.output('x'.repeat(5 * STORED_OUTPUT_MAX_CHARACTERS));
    command.store();
    records.commit();
    expect(await records.found()).toBe('x'.repeat(STORED_OUTPUT_MAX_CHARACTERS));
  });

  it('[REL-062] is written again when it could not be stored', async () => {
    const records = new Records();
    const command = new StoredCommand(records, PLACE);
    command.environment();
    records.commit();
    command.output('first ');
    command.store();
    records.fail();
    command.output('second');
    command.store();
    records.commit();
    expect(await records.found()).toBe('first second');
  });
});

describe('the processes of a command that was cut off', () => {
  it.runIf(process.platform === 'linux')('[REL-062] are never those of a host which that command started', async () => {
    const environment = readFileSync('/proc/self/environ', 'latin1').split('\0');
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const ownGroup = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
    // Every variable that this process was started with stands for the mark of the command.
    for (const line of environment.filter((text) => text.includes('=')).slice(0, 3)) {
      const [variable = '', ...value] = line.split('=');
      expect([...(await groupsWith(variable, value.join('=')))]).not.toContain(ownGroup);
    }
  });
});
