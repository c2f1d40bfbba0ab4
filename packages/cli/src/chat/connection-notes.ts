/** Tells the person when the host is gone and when it is back, once each. */
import type { Status } from '@atrium/client';

export function connectionNotes(note: (text: string) => void): (status: Status) => void {
  let wasOpen = true;
  return (status) => {
    if (status.at === 'open' && !wasOpen) note('The host is back.');
    if (status.at === 'waiting' && wasOpen) note('The host is gone. What you write waits until it is back.');
    if (status.at === 'closed' && status.error) note(`The connection ended for good: ${status.error.message}`);
    if (status.at === 'open' || status.at === 'waiting') wasOpen = status.at === 'open';
  };
}
