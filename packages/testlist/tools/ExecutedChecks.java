import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/* Writes down which checks each test ran under the platform of JUnit, in the form of executed_checks.cjs.
 *
 * An agent that puts a note before each check of JUnit, Hamcrest, Mockito and Truth, and a listener that hears of tests.
 *
 *     javac -cp JARS -d OUT ExecutedChecks.java
 *     mkdir -p OUT/META-INF/services
 *     echo ExecutedChecks > OUT/META-INF/services/org.junit.platform.launcher.TestExecutionListener
 *     echo 'Premain-Class: ExecutedChecks' > OUT/manifest
 *     jar cfm checks.jar OUT/manifest -C OUT .
 *     EXECUTED_CHECKS=OUT.jsonl java -javaagent:checks.jar -cp checks.jar:JARS:CLASSES \
 *         org.junit.platform.console.ConsoleLauncher --scan-classpath CLASSES
 *
 * JARS are of JUnit and ASM; the library is the current folder.  A test stands at the first line of its body, as class
 * files tell no other.
 */
public final class ExecutedChecks implements TestExecutionListener {
    private static final Path ROOT = Path.of("").toAbsolutePath();
    private static final Map<String, Pattern> CHECKS = Map.of(
        "org/junit/(jupiter/api/Assertions|Assert)|junit/framework/(Assert|TestCase)|org/hamcrest/MatcherAssert",
        Pattern.compile("(assert(?!All)|fail).*"),
        "org/mockito/(Mockito|internal/(InOrderImpl|MockedStaticImpl))",
        Pattern.compile("verify.*"),
        "com/google/common/truth/\\w*Subject",
        Pattern.compile("(is|has|contains|does|matches|starts|ends)[A-Z].*"));
    private static final Pattern JUDGES = Pattern.compile(".*\\)(V|Lcom/google/common/truth/Ordered;)");
    private static final Map<String, List<Path>> SOURCES = sources();
    private static final Map<String, Optional<Path>> FILES = new ConcurrentHashMap<>();
    private static List<List<Place>> checks;

    private record Place(Path file, int line) {}

    public static void premain(String argument, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> of, ProtectionDomain by, byte[] code) {
                return CHECKS.keySet().stream().filter(one -> name != null && name.matches(one)).findFirst()
                    .map(one -> noting(code, CHECKS.get(one), one.contains("truth"))).orElse(null);
            }
        });
    }

    /* A class whose checks call `note` first.  isFluent: whether only those are checks that give back nothing to ask of. */
    private static byte[] noting(byte[] code, Pattern names, boolean isFluent) {
        ClassWriter written = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        new ClassReader(code).accept(new ClassVisitor(Opcodes.ASM9, written) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String shape, String generic, String[] thrown) {
                MethodVisitor inner = super.visitMethod(access, name, shape, generic, thrown);
                boolean isCheck = (access & Opcodes.ACC_PUBLIC) != 0 && names.matcher(name).matches()
                    && (!isFluent || JUDGES.matcher(shape).matches());
                return !isCheck ? inner : new MethodVisitor(Opcodes.ASM9, inner) {
                    @Override
                    public void visitCode() {
                        super.visitCode();
                        super.visitMethodInsn(Opcodes.INVOKESTATIC, "ExecutedChecks", "note", "()V", false);
                    }
                };
            }
        }, 0);
        return written.toByteArray();
    }

    /* A check runs: remember where the repository's own code stands, the innermost first. */
    public static synchronized void note() {
        List<Place> places = checks == null ? List.of() : StackWalker.getInstance().walk(frames -> frames
            .flatMap(one -> fileOf(one.getClassName(), one.getFileName())
                .map(file -> new Place(file, one.getLineNumber())).stream())
            .toList());
        if (!places.isEmpty())
            checks.add(places);
    }

    /* The file of the repository in which a class stands. */
    private static Optional<Path> fileOf(String name, String file) {
        String folder = name.substring(0, name.lastIndexOf('.') + 1).replace('.', '/');
        return file == null ? Optional.empty() : FILES.computeIfAbsent(folder + file, end ->
            SOURCES.getOrDefault(file, List.of()).stream().filter(one -> one.endsWith(end)).findFirst());
    }

    /* The sources of the repository, by their names. */
    private static Map<String, List<Path>> sources() {
        try (Stream<Path> all = Files.walk(ROOT)) {
            return all.filter(one -> one.toString().endsWith(".java"))
                .collect(Collectors.groupingBy(one -> one.getFileName().toString()));
        } catch (IOException fault) {
            throw new IllegalStateException(fault);
        }
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest())
            checks = new ArrayList<>();
    }

    /* Of a test that failed, some checks were not come to. */
    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean hasPassed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (test.isTest() && hasPassed && test.getSource().orElse(null) instanceof MethodSource source)
            told(source.getJavaMethod());
        if (test.isTest())
            checks = null;
    }

    private static synchronized void told(Method method) {
        Class<?> owner = method.getDeclaringClass();
        try (InputStream code = owner.getResourceAsStream("/" + owner.getName().replace('.', '/') + ".class")) {
            First first = new First(method.getName() + Type.getMethodDescriptor(method));
            new ClassReader(code).accept(first, ClassReader.SKIP_FRAMES);
            Path file = fileOf(owner.getName(), first.file).orElse(null);
            String lines = checks.stream().map(places -> places.get(0)).filter(one -> one.file.equals(file))
                .collect(Collectors.groupingBy(Place::line, Collectors.counting())).entrySet().stream()
                .map(one -> "\"" + one.getKey() + "\": " + one.getValue()).collect(Collectors.joining(", "));
            List<Integer> through = checks.stream().flatMap(places -> places.stream().skip(1))
                .filter(one -> one.file.equals(file)).map(Place::line).distinct().toList();
            String told = "{\"file\": \"%s\", \"line\": %d, \"name\": \"%s\", \"lines\": {%s}, \"through\": %s, \"count\": %d}%n"
                .formatted(file, first.line, method.getName(), lines, through, checks.size());
            Files.writeString(Path.of(System.getenv("EXECUTED_CHECKS")), told,
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /* The first line of a method, and the file of its class. */
    private static final class First extends ClassVisitor {
        private final String wanted;
        private String file;
        private int line = Integer.MAX_VALUE;

        First(String wanted) {
            super(Opcodes.ASM9);
            this.wanted = wanted;
        }

        @Override
        public void visitSource(String source, String debug) {
            file = source;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String shape, String generic, String[] thrown) {
            return !wanted.equals(name + shape) ? null : new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitLineNumber(int number, Label start) {
                    line = Math.min(line, number);
                }
            };
        }
    }
}
