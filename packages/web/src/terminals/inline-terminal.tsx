/** A terminal inside of a tool call. The view itself comes when the first one is shown. */
import { lazy, type ReactNode, Suspense } from 'react';

const InlineView = lazy(() => import('./inline-view.js').then((module) => ({ default: module.InlineView })));

interface Props {
  readonly uri: string;
  readonly title: string;
  /** The same as text: shown until the terminal is here, and where it is gone. */
  readonly children: ReactNode;
}

export function InlineTerminal(props: Props) {
  return (
    <Suspense fallback={props.children}>
      <InlineView {...props} />
    </Suspense>
  );
}
