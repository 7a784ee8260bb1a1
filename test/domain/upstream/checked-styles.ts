import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { CssChecker } from '../../../src/adapters/css/css-checker.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import { PlatformStyles, type PlatformStylesDependencies } from '../../../src/domain/upstream/platform-styles.js';
import type { Telemetry } from '../../../src/ports/telemetry.js';
import { memoryOf } from '../../support/memory.js';

/** The platform's styles with the real parser. */
export function checkedStyles(telemetry: Telemetry, changes: Partial<PlatformStylesDependencies> = {}): PlatformStyles {
  const themeOrigins = changes.themeOrigins ?? [];
  const clock = new FakeClock();
  return new PlatformStyles({
    checker: () => Promise.resolve(new CssChecker(new Set(themeOrigins))),
    telemetry,
    hash: sha256,
    trustBrandCss: false,
    themeOrigins,
    memory: memoryOf(clock),
    clock,
    ...changes,
  });
}
