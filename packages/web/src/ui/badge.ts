/** The number of sessions that wait, on the icon of the app where the system shows one. The title of the tab has it in any case. */
export function showBadge(count: number): void {
  if (!('setAppBadge' in navigator)) return;
  const shown = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
  // Not installed, or not allowed.
  shown.catch(() => {});
}
