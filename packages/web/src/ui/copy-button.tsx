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

/** Browsers allow it on secure pages only, which `localhost` is and an address in the network is not. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
