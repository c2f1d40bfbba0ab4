/** A host in this process that can stop in good order or die, and comes to life again on the same log. */

import type { LogEntry } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { Snapshot } from '@atrium/protocol/ahp-1';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import { createHost } from '../../src/host.js';
import type { Host } from '../../src/host-options.js';
import { channelsOf } from './crash-observer.js';
import { FakeClock } from './fake-clock.js';
import { FuzzClient } from './fuzz-client.js';
import { type Death, LeasedLog } from './fuzz-leased-log.js';
import { FuzzLink } from './fuzz-link.js';
import { FUZZ_INLINE_MAX_CHARACTERS, FUZZ_SCRIPT, LONG_INPUT_SCRIPT, LONG_INPUT_TOOL } from './fuzz-script.js';
import { settle } from './test-host.js';

export class MortalHost {
  readonly #kept = new MemoryLog();
  #clock = new FakeClock();
  #lease = new LeasedLog(this.#kept);
  #host: Host | undefined;

  constructor(
    private readonly logger: Logger,
    private readonly hasLongInput: boolean,
  ) {}

  get host(): Host {
    if (!this.#host) throw new Error('the host has not been started');
    return this.#host;
  }

  get isDead(): boolean {
    return this.#lease.isDead;
  }

  /** Starts, the first time or again. */
  async start(): Promise<void> {
    this.#clock = new FakeClock(this.#clock.now());
    this.#lease = new LeasedLog(this.#kept);
    const { hasLongInput, logger } = this;
    const agents = [scriptedAgent(hasLongInput ? LONG_INPUT_SCRIPT : FUZZ_SCRIPT, { clock: this.#clock })];
    const more = hasLongInput && {
      tools: [LONG_INPUT_TOOL],
      toolInputInlineMaxCharacters: FUZZ_INLINE_MAX_CHARACTERS,
    };
    this.#host = await createHost({ log: this.#lease.log, agents, clock: this.#clock, logger, ...more });
    await settle();
  }

  async advance(milliseconds: number): Promise<void> {
    await this.#clock.advance(milliseconds);
  }

  /** Ends in good order, at once, or around the next commit. */
  async end(death: Death | 'order'): Promise<void> {
    if (death !== 'order' && !this.#lease.isDoomed) return this.#lease.die(death);
    if (!this.#lease.isDoomed) await this.#host?.stop();
    this.#lease.die('now');
  }

  entries(after: number): Promise<LogEntry[]> {
    return this.#kept.read({ after });
  }

  /** Fresh snapshots of sessions and their chats, for a client that never connected before. */
  async snapshots(uris: readonly string[], chats: readonly string[] = []): Promise<Snapshot[]> {
    const observer = new FuzzClient('observer', ['1.0.0'], [...channelsOf(uris), ...chats]);
    const link = new FuzzLink();
    this.host.connect(link.transport);
    observer.attach((text) => link.post(text), 'anew');
    while (link.unread.length === 0) await settle(1);
    const { result } = JSON.parse(link.unread[0] ?? '{}') as { result?: { snapshots?: Snapshot[] } };
    link.cut();
    return result?.snapshots ?? [];
  }
}
