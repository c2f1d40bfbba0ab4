/** The few things that differ between a browser and Node, with no import of either. */

/** A page that nobody looks at may wait longer before it tries again. Outside of a page somebody always looks. */
export function isVisible(): boolean {
  return globalThis.document?.visibilityState !== 'hidden';
}

/** Calls back when waiting any longer makes no sense: the page is shown again, or the network is back. */
export function onWake(listener: () => void): () => void {
  const whenShown = () => isVisible() && listener();
  globalThis.document?.addEventListener('visibilitychange', whenShown);
  globalThis.window?.addEventListener?.('online', listener);
  return () => {
    globalThis.document?.removeEventListener('visibilitychange', whenShown);
    globalThis.window?.removeEventListener?.('online', listener);
  };
}
