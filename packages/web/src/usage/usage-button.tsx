/** The button in the list of sessions that opens the usage. The view itself loads then. */
import { lazy, Suspense, useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { Icon } from '../ui/icons.js';

export const UsageDialog = lazy(() => import('./usage-dialog.js').then((module) => ({ default: module.UsageDialog })));

export function UsageButton() {
  const { client } = useHost();
  const [isOpen, setOpen] = useState(false);
  if (!isAtrium(client)) return null;
  return (
    <>
      <button type="button" className="quiet small sidebar-link" onClick={() => setOpen(true)}>
        <Icon name="chart" /> Usage and cost
      </button>
      {isOpen && (
        <Suspense>
          <UsageDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
