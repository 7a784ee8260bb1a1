import { describe, expect, it } from 'vitest';
import { CssChecker } from '../../../src/adapters/css/css-checker.js';
import { FakeClock, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { checkedStyles } from './checked-styles.js';
import { memoryOf } from '../../support/memory.js';

const HOSTILE = ':root{--a:1}body::before{content:"x"}';

describe("the platform's styles", () => {
  it('are parsed once for each text for all callers', async () => {
    let parsed = 0;
    const checker = new CssChecker(new Set());
    const styles = checkedStyles(new RecordingTelemetry(), {
      checker: () =>
        Promise.resolve({
          brand: (css) => checker.brand(css),
          theme: (css) => {
            parsed += 1;
            return checker.theme(css);
          },
        }),
    });
    const themes = await Promise.all(Array.from({ length: 50 }, () => styles.theme('a{b:c}')));
    themes.push(await styles.theme('a{b:c}'));
    expect([new Set(themes).size, parsed]).toEqual([1, 1]);
    await styles.theme('{'.repeat(1_000));
    await styles.theme('{'.repeat(1_000));
    expect(parsed).toBe(2);
  });

  it('are told apart by their use, although one text may be both', async () => {
    const telemetry = new RecordingTelemetry();
    const styles = checkedStyles(telemetry);
    const css = ':root{--a:1}';
    expect(await styles.brand(css)).toBe(css);
    expect((await styles.theme(css))?.digest).toMatch(/^[0-9a-f]{32}$/);
    expect(await styles.brand(css)).toBe(css);
    expect(telemetry.of('warning')).toEqual([]);
  });

  it('are named by their rules and by the origins that a theme may load from', () => {
    const names = [[], [], ['https://a.example'], ['https://b.example']].map(
      (themeOrigins) => checkedStyles(new RecordingTelemetry(), { themeOrigins }).rulesName,
    );
    expect([names[0], new Set(names).size]).toEqual([names[1], 3]);
  });

  it.each(['brand', 'theme'] as const)('are not cached over the limit in bytes: a %s', async (kind) => {
    let parsed = 0;
    const check = (css: string) => Promise.resolve({ css, leftOut: [`rule ${String((parsed += 1))}`] });
    const checker = () => Promise.resolve({ brand: check, theme: check });
    const styles = checkedStyles(new RecordingTelemetry(), { checker, memory: memoryOf(new FakeClock(), 1_000) });
    const css = 'a'.repeat(kind === 'theme' ? 605 : 303);
    await styles[kind](css);
    await styles[kind](css);
    expect(parsed).toBe(2);
  });

  it('are cached up to a limit in bytes', async () => {
    const styles = checkedStyles(new RecordingTelemetry(), {
      memory: memoryOf(new FakeClock(), 500),
    });
    const first = await styles.theme('a{b:c}');
    expect(await styles.theme('a{b:c}')).toBe(first);
    await styles.theme('d{e:f}');
    expect(await styles.theme('a{b:c}')).not.toBe(first);
  });

  it('cause one report of the rules removed from a brand, with the option that keeps them', async () => {
    const telemetry = new RecordingTelemetry();
    const styles = checkedStyles(telemetry);
    expect([await styles.brand(HOSTILE), await styles.brand(HOSTILE)]).toEqual([':root{--a:1}', ':root{--a:1}']);
    expect(telemetry.of('warning')).toEqual([
      {
        type: 'warning',
        code: 'brand_reduced',
        summary: expect.stringContaining('"trustBrandCss" in configureServer') as string,
        detail: expect.stringMatching(/Left out: 1 rules for elements other than :root\.$/) as string,
        block: 'configureServer',
        fields: ['trustBrandCss'],
      },
    ]);
  });

  it('cause one report of the blocked origins in a theme, with the option that allows them', async () => {
    const telemetry = new RecordingTelemetry();
    const styles = checkedStyles(telemetry, { themeOrigins: ['https://cdn.example'] });
    await styles.theme('a{b:url(https://other.example/x) url(https://cdn.example/y) url(https://third.example/z)}');
    await styles.theme('a{b:url(https://other.example/x) url(https://cdn.example/y) url(https://third.example/z)}');
    expect(telemetry.of('warning')).toMatchObject([
      {
        code: 'theme_reduced',
        fields: ['mediaOrigins'],
        detail: expect.stringMatching(/https:\/\/other\.example \(1\), .*https:\/\/third\.example \(1\)\.$/) as string,
      },
    ]);
  });

  it.each([
    ['a trusted brand', true, HOSTILE],
    ['an empty brand', false, ''],
  ])('include %s unparsed', async (_what, trustBrandCss, css) => {
    const checker = (): Promise<never> => Promise.reject(new Error('not loaded'));
    expect(await checkedStyles(new RecordingTelemetry(), { trustBrandCss, checker }).brand(css)).toBe(css);
  });

  it('are checked for the next caller after the parser failed to load', async () => {
    let loads = 0;
    const styles = checkedStyles(new RecordingTelemetry(), {
      checker: () => {
        loads += 1;
        return loads === 1 ? Promise.reject(new Error('disk')) : Promise.resolve(new CssChecker(new Set()));
      },
    });
    await expect(styles.theme('a{b:c}')).rejects.toThrow('disk');
    expect(await styles.theme('a{b:c}')).toBeDefined();
    await styles.brand(HOSTILE);
    expect(loads).toBe(2);
  });
});
