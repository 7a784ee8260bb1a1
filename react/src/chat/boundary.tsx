import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  /** Shown in place of the children once rendering them has failed. */
  readonly fallback: ReactNode;
  readonly children?: ReactNode;
}

/** Keeps an error in what it shows from removing the page around it. React writes the error to the console. */
export class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
