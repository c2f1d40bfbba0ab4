/** Remembers which numbers of a client were settled by entries that have since been dropped. */
import type { EntryOrigin } from '../core/log/log.js';
import { addNumbers, hasNumber, type NumberRange, numbersFrom } from '../core/log/ranges.js';
import type { Database, Statement } from './driver.js';

type Client = Pick<EntryOrigin, 'clientId' | 'epoch'>;

interface DroppedRow extends Client {
  /** The client's numbers as a JSON array. */
  readonly seqs: string;
}

export class ClientMarks {
  readonly #get: Statement<{ ranges: string }>;
  readonly #put: Statement<never>;
  readonly #forgetEpochs: Statement<never>;
  readonly #forget: Statement<never>;
  readonly #dropped: Statement<DroppedRow>;
  /** Most logs were never compacted: then no append needs to ask. */
  #any: boolean;

  constructor(db: Database) {
    this.#get = db.prepare(`SELECT ${db.text('ranges')} AS ranges FROM client_marks WHERE client_id = ? AND epoch = ?`);
    this.#put = db.prepare('INSERT OR REPLACE INTO client_marks VALUES (?, ?, ?)');
    this.#forgetEpochs = db.prepare('DELETE FROM client_marks WHERE client_id = ? AND epoch < ?');
    this.#forget = db.prepare('DELETE FROM client_marks WHERE client_id = ?');
    this.#dropped = db.prepare(`
      SELECT ${db.text('client_id')} AS clientId, epoch, json_group_array(client_seq) AS seqs FROM entries
      WHERE seq <= ? AND client_id IS NOT NULL GROUP BY client_id, epoch`);
    this.#any = db.prepare('SELECT 1 FROM client_marks LIMIT 1').get() !== undefined;
  }

  has(origin: EntryOrigin): boolean {
    return this.#any && hasNumber(this.#ranges(origin), origin.clientSeq);
  }

  from(client: Client, from: number): number[] {
    return this.#any ? numbersFrom(this.#ranges(client), from) : [];
  }

  /** To be called, in the same transaction, before the entries up to this number are dropped. */
  remember(upTo: number): void {
    for (const { clientId, epoch, seqs } of this.#dropped.all(upTo)) {
      const ranges = addNumbers(this.#ranges({ clientId, epoch }), JSON.parse(seqs) as number[]);
      this.#put.run(clientId, epoch, JSON.stringify(ranges));
      // A client that has begun anew does not go on with the numbers it had before.
      this.#forgetEpochs.run(clientId, epoch);
      this.#any = true;
    }
  }

  forget(clientId: string): void {
    this.#forget.run(clientId);
  }

  #ranges({ clientId, epoch }: Client): readonly NumberRange[] {
    const row = this.#get.get(clientId, epoch);
    return row === undefined ? [] : (JSON.parse(row.ranges) as NumberRange[]);
  }
}
