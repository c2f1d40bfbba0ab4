/**
 * Shows the number of waiting sessions on the icon of the app, if the system supports it. The title of the tab always
 * has it.
 */
export function showBadge(count: number): void {
  if (!('setAppBadge' in navigator)) return;
  const shown = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
  // Not installed, or not allowed.
  shown.catch(() => {});
}
