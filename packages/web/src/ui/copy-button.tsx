/** Copies a text, and says so. */
import { useState } from 'react';
import { tell } from './notices.js';

const SAID_MS = 1_500;

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copied(text))) return tell('This browser does not let pages copy here. Select the text instead.');
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_MS);
  };
  return (
    <button type="button" className="quiet small" onClick={copy} aria-label={`Copy ${what}`}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
}

/** False if the browser does not allow it. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedTheOldWay(text);
  }
}

/** For pages that are not secure, such as an address in the network: browsers allow the new way only on secure ones. */
function copiedTheOldWay(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  // While a dialog is open, nothing outside it can be selected.
  const place = document.querySelector('dialog[open]') ?? document.body;
  const had = document.activeElement;
  place.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (had instanceof HTMLElement) had.focus();
  return isCopied;
}
