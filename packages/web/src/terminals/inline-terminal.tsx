/** A terminal inside of a tool call. The view itself comes when the first one is shown. */
import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense, useState } from 'react';

interface Props {
  readonly uri: string;
  readonly title: string;
  /** The same as text: shown until the terminal is here, and where it is gone. */
  readonly children: ReactNode;
}

let view: LazyExoticComponent<ComponentType<Props>> = lazyView();

/** The host may be gone just when the view is asked for: this call stays text then, and the next one asks again. */
function lazyView(): LazyExoticComponent<ComponentType<Props>> {
  return lazy(
    (): Promise<{ default: ComponentType<Props> }> =>
      import('./inline-view.js').then(
        ({ InlineView }) => ({ default: InlineView }),
        () => {
          view = lazyView();
          return { default: ({ children }) => children };
        },
      ),
  );
}

export function InlineTerminal(props: Props) {
  const [View] = useState(() => view);
  return (
    <Suspense fallback={props.children}>
      <View {...props} />
    </Suspense>
  );
}
