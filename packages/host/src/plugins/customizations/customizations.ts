/** The customizations of all sessions in memory. */
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import type { TokenGrant } from '@atrium/core/util/token-grant.js';
import type { Customization } from '@atrium/protocol/ahp-1';
import { LOADS_AT_ONCE } from '../formats/limits.js';
import type { DirectorySource } from '../formats/source.js';
import { Container } from './container.js';
import { containerEntry } from './customization-entries.js';
import { findSources } from './find-sources.js';
import type { CustomizationsPorts, HostSession, SessionFacts } from './ports.js';
import { SessionCustomizations } from './session-customizations.js';

/** A person is typing, so what was read is used again for a moment. */
const READ_KEPT_MS = 5_000;

interface KeptEntries {
  readonly entries: Promise<readonly Customization[]>;
  readonly until: number;
}

export class Customizations {
  readonly #ports: CustomizationsPorts;
  readonly #sessions = new Set<SessionCustomizations>();
  readonly #read = new Map<string, KeptEntries>();

  constructor(ports: CustomizationsPorts) {
    this.#ports = ports;
  }

  attach(session: HostSession, facts: SessionFacts): SessionObserver {
    const customizations = new SessionCustomizations(session, facts, this.#ports);
    this.#sessions.add(customizations);
    return {
      begin: (report) => customizations.begin(report),
      suspend: () => customizations.suspend(),
      observe: (step) => customizations.observe(step),
      lost: () => customizations.lost(),
      close: () => {
        this.#sessions.delete(customizations);
        return customizations.close();
      },
    };
  }

  /** The directories that agents of loaded sessions declare. All others are known by their paths. */
  declaredDirectories(): readonly DirectorySource[] {
    return [...this.#sessions].flatMap(({ declaredDirectories }) => declaredDirectories);
  }

  /**
   * What a session in this folder would find on this machine, without starting any of it. What its agent and its client
   * add is not known yet.
   */
  entriesIn(folder: string): Promise<readonly Customization[]> {
    const now = this.#ports.clock.now();
    for (const [key, { until }] of this.#read) if (until <= now) this.#read.delete(key);
    const kept = this.#read.get(folder) ?? { entries: this.#readEntries(folder), until: now + READ_KEPT_MS };
    this.#read.set(folder, kept);
    kept.entries.catch(() => this.#read.delete(folder));
    return kept.entries;
  }

  async #readEntries(folder: string): Promise<readonly Customization[]> {
    const { options, logger, isTrusted } = this.#ports;
    const expansion = { env: process.env, platform: process.platform };
    const facts = { folder, isTrusted: await isTrusted(folder), declared: [], expansion, logger };
    const sources = await findSources({ ...options, ...facts });
    const containers = sources.flatMap((source) =>
      source.kind === 'mcpServer' ? [] : [new Container(source, { expansion, dataFolder: options.dataFolder })],
    );
    await mapSome(containers, LOADS_AT_ONCE, (container) => container.load().catch(() => {}));
    return containers
      .filter(({ isMissing, loaded }) => loaded && !isMissing)
      .map((container) => containerEntry(container, undefined, NOT_STARTED));
  }

  /** Passes a token to MCP servers that asked for this resource; false if none did. */
  authenticate(resource: string, grant: TokenGrant): boolean {
    return [...this.#sessions].map((session) => session.authenticate(resource, grant)).includes(true);
  }
}

const NOT_STARTED = { stateOf: () => ({ kind: 'stopped' as const }), promptsOf: () => [] };
