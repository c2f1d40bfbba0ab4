/** What was written and not sent yet, kept for each session as long as the tab lives. */
import { useState } from 'react';

export function useDraft(uri: string): [string, (text: string) => void] {
  const key = `atrium.draft.${uri}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');
  const change = (next: string) => {
    setText(next);
    if (next === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, next);
  };
  return [text, change];
}
