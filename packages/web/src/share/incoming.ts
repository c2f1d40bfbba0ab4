/** What a person has chosen a place for: it goes into the message there, and waits to be sent. */
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

/** Puts what is for this place into its message, behind what stands there. */
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
