/**
 * Damage that was found in the log and repaired: written to the host's own log, stored for `atrium doctor`, and
 * reported to the owner's clients in the answer to `initialize`.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { jsonText, type Log, type LogRepair } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';

/** The newest reports, as a JSON array. */
export const DAMAGE_RECORD = 'log:damage';
export const DAMAGE_REPORTS_MAX = 20;
/** The member of the answer to `initialize` that has the reports. */
export const DAMAGE_MEMBER = 'atrium/damage';

export interface DamageReport {
  /** When the damage was found, in milliseconds since the epoch. */
  readonly time: number;
  readonly message: string;
  /** The file with the damaged bytes. */
  readonly keptAt?: string;
}

export interface DamageReportsOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class DamageReports {
  readonly #options: DamageReportsOptions;
  #reports: readonly DamageReport[] = [];

  constructor(options: DamageReportsOptions) {
    this.#options = options;
  }

  /** Empty, and so invisible to clients, if no damage was ever found. */
  get greeting(): Readonly<Record<string, unknown>> {
    return this.#reports.length > 0 ? { [DAMAGE_MEMBER]: this.#reports } : {};
  }

  async start(): Promise<void> {
    const { log } = this.#options;
    this.#reports = await storedReports(log);
    for (const repair of log.repairs) this.add(repair);
    log.onRepair((repair) => this.add(repair));
  }

  add({ message, keptAt }: LogRepair): void {
    const { writer, clock, logger } = this.#options;
    logger.log('warn', message, { ...(keptAt !== undefined && { keptAt }) });
    const report = { time: clock.now(), message, ...(keptAt !== undefined && { keptAt }) };
    this.#reports = [...this.#reports, report].slice(-DAMAGE_REPORTS_MAX);
    writer.record({ key: DAMAGE_RECORD, value: jsonText(this.#reports) });
  }
}

/** The reports of earlier hosts. */
export async function storedReports(log: Pick<Log, 'record'>): Promise<readonly DamageReport[]> {
  return JSON.parse((await log.record(DAMAGE_RECORD)) ?? '[]') as DamageReport[];
}
