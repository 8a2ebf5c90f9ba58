<?php
/* What PHPUnit tells executed_checks_phpunit.php of its tests; loaded by that, when PHPUnit's interfaces are known. */

namespace ExecutedChecks;

use PHPUnit\Runner\AfterSuccessfulTestHook;
use PHPUnit\Runner\BeforeTestHook;

final class Extension implements BeforeTestHook, AfterSuccessfulTestHook
{
    public function executeBeforeTest(string $test): void
    {
        State::$checks = [];
        State::$last = '';
    }

    /* A `.phpt` has no method, and of a test that runs in a process of its own nothing was heard. */
    public function executeAfterSuccessfulTest(string $test, float $time): void
    {
        if (!str_contains($test, '::')) {
            return;
        }
        $method = new \ReflectionMethod(explode(' ', $test)[0]);
        $above = $method->getDocComment() . $method->getDeclaringClass()->getDocComment();
        if (preg_match('/@run\w*InSeparateProcess/', $above)) {
            return;
        }
        file_put_contents(getenv('EXECUTED_CHECKS'), json_encode(told($method)) . "\n", FILE_APPEND);
    }
}
