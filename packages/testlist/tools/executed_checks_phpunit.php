<?php
/* Writes down which assertions each test of PHPUnit 9 ran, in the form of executed_checks.cjs.
 *
 *     EXECUTED_CHECKS=OUT.jsonl php -d auto_prepend_file=PATH/executed_checks_phpunit.php PHPUNIT \
 *         --extensions 'ExecutedChecks\Extension'
 *
 * PHPUNIT is its command, with its folder in PHP's include_path; the library is the current folder.  Classes of PHPUnit
 * are loaded with a call of `note` before each assertion.  What an expected exception is like, which several statements
 * say one after another, is one check, at the first of them; a call that a double may get but need not is none.
 */

namespace ExecutedChecks;

const PATCHED = ['PHPUnit\Framework\Assert', 'PHPUnit\Framework\TestCase', 'PHPUnit\Framework\MockObject\InvocationHandler'];
const CHECKS = '/public (?:static )?(?:final )?function (assert\w+|expect\w*|fail)\s*\([^;{]*\{/';
const ANY = 'PHPUnit\Framework\MockObject\Rule\AnyInvokedCount';
const RAISES = '/^expectException/';

/* What the test that runs has checked: places, the innermost first. */
final class State
{
    public static ?array $checks = null;
    public static string $last = '';
}

/* A check runs: remember where it stands.  given: its first argument. */
function note(string $name, mixed $given): void
{
    if (State::$checks === null || $name === 'expectNotToPerformAssertions' || is_a($given, ANY)) {
        return;
    }
    $isMore = preg_match(RAISES, $name) && preg_match(RAISES, State::$last);
    State::$last = $name;
    $places = $isMore ? [] : places();
    if ($places !== []) {
        State::$checks[] = $places;
    }
}

/* Where the repository's own code stands on the stack. */
function places(): array
{
    $found = [];
    foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $frame) {
        $file = $frame['file'] ?? '';
        if (str_starts_with($file, ROOT) && !str_contains($file, '/vendor/')) {
            $found[] = [$file, $frame['line']];
        }
    }
    return $found;
}

/* What is written of a test that has ended without a failure. */
function told(\ReflectionMethod $method): array
{
    $file = $method->getFileName();
    $within = fn (array $places) => array_column(array_filter($places, fn ($one) => $one[0] === $file), 1);
    $lines = array_merge(...array_map(fn ($places) => $within([$places[0]]), State::$checks));
    $through = array_merge(...array_map(fn ($places) => $within(array_slice($places, 1)), State::$checks));
    return ['file' => $file, 'line' => $method->getStartLine(), 'name' => $method->getName(),
            'lines' => (object) array_count_values($lines), 'through' => array_values(array_unique($through)),
            'count' => count(State::$checks)];
}

/* Load a class of PHPUnit with a note before each check; or the extension, whose interfaces are known by then. */
function load(string $class): void
{
    if ($class === 'ExecutedChecks\Extension') {
        require __DIR__ . '/executed_checks_phpunit_extension.php';
    } elseif (in_array($class, PATCHED, true)) {
        $path = stream_resolve_include_path(strtr($class, '\\', '/') . '.php');
        $source = substr(file_get_contents($path), strlen('<?php'));
        $source = str_replace('__DIR__', var_export(dirname($path), true), $source);
        eval(preg_replace(CHECKS, '$0 \ExecutedChecks\note(\'$1\', func_get_args()[0] ?? null);', $source));
    }
}

define('ExecutedChecks\ROOT', realpath(getcwd()) . '/');
spl_autoload_register(load(...), prepend: true);
