import type { ContainerModuleLoadOptions, ServiceIdentifier } from 'inversify';
import type { Token } from './tokens.js';

type Resolved<D extends readonly Token<unknown>[]> = { [K in keyof D]: D[K] extends Token<infer U> ? U : never };

/** Binds a service to a function of its dependencies; swapped dependencies do not compile, which inversify's own types allow. */
export function provide<S, const D extends readonly Token<unknown>[]>(
  bind: ContainerModuleLoadOptions['bind'],
  to: Token<S>,
  dependencies: D,
  make: (...resolved: Resolved<D>) => NoInfer<S>,
): void {
  bind<S>(to as ServiceIdentifier<S>)
    .toResolvedValue(make as unknown as (...resolved: unknown[]) => S, [...dependencies] as ServiceIdentifier[])
    .inSingletonScope();
}
