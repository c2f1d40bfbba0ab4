/** Says on every screen that other machines can connect to this host without encryption. */

import { useLayoutEffect } from 'react';

/** The host puts this element into its document, because the page needs the notice before it is let in. */
const MARK = 'meta[name="atrium-insecure-remote"]';

export function InsecureNotice() {
  const isShown = document.querySelector(MARK) !== null;
  useLayoutEffect(() => void document.documentElement.classList.toggle('has-insecure-notice', isShown), [isShown]);
  if (!isShown) return null;
  return (
    <div className="insecure-remote" role="note">
      <b>Not encrypted:</b> others can read along.
    </div>
  );
}
