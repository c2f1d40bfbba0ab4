/** How much longer a bystander waits while somebody attacks. */
import type { AttackCounts } from './rig.js';
import type { Bystander } from './socket-client.js';

const IDLE_TRIPS = 60;

export interface Round {
  readonly counts: AttackCounts;
  readonly idle: readonly number[];
  readonly attacked: readonly number[];
  /** Of the medians. */
  readonly ratio: number;
  readonly longestMs: number;
}

export async function measureUnder(
  bystander: Bystander,
  attack: () => Promise<{ readonly over: Promise<AttackCounts> }>,
): Promise<Round> {
  const before = await bystander.roundTrips(IDLE_TRIPS);
  const { over } = await attack();
  let isOver = false;
  const ending = over.then((counts) => {
    isOver = true;
    return counts;
  });
  const attacked: number[] = [];
  while (!isOver) attacked.push(...(await bystander.roundTrips(1)));
  const counts = await ending;
  const idle = [...before, ...(await bystander.roundTrips(IDLE_TRIPS))];
  const ratio = quantile(attacked, 0.5) / quantile(idle, 0.5);
  return { counts, idle, attacked, ratio, longestMs: Math.max(...attacked) };
}

export function summary({ idle, attacked, ratio, longestMs }: Round): string {
  const of = (trips: readonly number[]) =>
    `${quantile(trips, 0.5).toFixed(2)} (p95 ${quantile(trips, 0.95).toFixed(2)})`;
  return `idle ${of(idle)}, attacked ${of(attacked)}, longest ${longestMs.toFixed(0)}, ratio ${ratio.toFixed(2)}`;
}

function quantile(values: readonly number[], at: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * at)] ?? 0;
}
