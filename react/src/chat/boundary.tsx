import {
  Component,
  type ComponentType,
  forwardRef,
  type ForwardRefExoticComponent,
  type ReactNode,
  type RefAttributes,
} from 'react';

import { MESSAGES } from '../chat-error.js';

interface BoundaryProps {
  /** Shown in place of the children once rendering them has failed. */
  readonly fallback: ReactNode;
  readonly children?: ReactNode;
}

/** Prevents an error in its children from removing the surrounding page. React logs the error to the console. */
export class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}

/** Wraps a component so that its failure shows a notice and does not affect the page. */
export function inBoundary<Props extends object, Handle>(
  Inner: ForwardRefExoticComponent<Props & RefAttributes<Handle>>,
): ForwardRefExoticComponent<Props & RefAttributes<Handle>> {
  const Bounded = Inner as unknown as ComponentType<object>;
  return forwardRef(function InBoundary(props: object, ref) {
    return (
      <Boundary fallback={<p role="alert">{MESSAGES.unreachable}</p>}>
        <Bounded {...props} {...{ ref }} />
      </Boundary>
    );
  }) as unknown as ForwardRefExoticComponent<Props & RefAttributes<Handle>>;
}
