/**
 * Shared content for which the person has chosen a session: it goes into the message there, and waits until they send
 * it.
 */
import { useEffect } from 'react';
import { Store, useStore } from '../model/store.js';

export interface Incoming {
  /** The URI of a session, or `new`. */
  readonly place: string;
  readonly text: string;
  readonly files: readonly File[];
}

export const incoming = new Store<Incoming | undefined>(undefined);

interface Field {
  readonly text: string;
  write(text: string): void;
  attach(files: readonly File[]): void;
}

/** Adds the content for this place to the end of its message. */
export function useIncoming(place: string, field: Field): void {
  const come = useStore(incoming);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each, however often the field is drawn
  useEffect(() => {
    if (come?.place !== place) return;
    incoming.set(undefined);
    if (come.text !== '') field.write(field.text.trim() === '' ? come.text : `${field.text}\n\n${come.text}`);
    if (come.files.length > 0) field.attach(come.files);
  }, [come, place]);
}
