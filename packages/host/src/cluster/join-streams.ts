import { type Duplex, pipeline } from 'node:stream';

/** Passes everything between two connections, in both directions; one side may be done before the other. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const stream of [one, other]) stream.allowHalfOpen = true;
  pipeline(one, other, () => {});
  pipeline(other, one, () => {});
}
