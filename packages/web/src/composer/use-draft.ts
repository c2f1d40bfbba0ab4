/** The unsent message of a form that belongs to no chat, with its attachments. It lives as long as the tab. */
import type { MessageAttachment } from '@atrium/protocol/ahp-1';
import { useRef, useState } from 'react';
import type { Selection } from '../model/selection.js';

export interface Draft extends Selection {
  readonly text: string;
  readonly attachments: readonly MessageAttachment[];
}

export const NO_DRAFT: Draft = { text: '', attachments: [] };

/** A function gets the latest draft, which may be newer than the one on the screen: uploads end at any time. */
export type DraftChange = Partial<Draft> | ((draft: Draft) => Partial<Draft>);

export function changed(draft: Draft, change: DraftChange): Draft {
  return { ...draft, ...(typeof change === 'function' ? change(draft) : change) };
}

/** `about`: the key of the form. */
export function useDraft(about: string): [Draft, (change: DraftChange) => void] {
  const [draft, setDraft] = useState(() => keptDraft(about) ?? NO_DRAFT);
  const latest = useRef(draft);
  const change = (by: DraftChange) => {
    latest.current = changed(latest.current, by);
    setDraft(latest.current);
    keepDraft(about, latest.current);
  };
  return [draft, change];
}

function keyOf(about: string): string {
  return `atrium.draft.${about}`;
}

/** The draft that this tab remembers, if any. */
export function keptDraft(about: string): Draft | undefined {
  try {
    const kept = sessionStorage.getItem(keyOf(about));
    return kept === null ? undefined : { ...NO_DRAFT, ...JSON.parse(kept) };
  } catch {
    return undefined;
  }
}

/** Remembers a draft, and forgets an empty one. */
export function keepDraft(about: string, draft: Draft): void {
  try {
    if (isBlank(draft)) sessionStorage.removeItem(keyOf(about));
    else sessionStorage.setItem(keyOf(about), JSON.stringify(draft));
  } catch {
    // Too long for the browser's storage; it is still in the field.
  }
}

export function isBlank({ text, attachments, model, agent }: Draft): boolean {
  return text === '' && attachments.length === 0 && !model && !agent;
}
