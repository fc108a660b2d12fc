// Simbody: a tree of pins and sliders, loops closed by ball constraints, a spring; Runge-Kutta-Merson steps.
//
// Reads a model from the standard input, then lines "accuracy t_end samples". Each is answered by the states at so many
// equally spaced times (position and rate of every joint, in the order of the tree), and by "seconds steps".

#include <Simbody.h>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <vector>

using namespace SimTK;

static double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

struct Mechanism {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    std::vector<MobilizedBody> bodies;
    std::vector<double> rates;

    MobilizedBody& at(int i) { return i < 0 ? static_cast<MobilizedBody&>(matter.updGround()) : bodies[i]; }

    void read(std::istream& in) {
        double gx, gy;
        int links, loops, springs, torques;
        in >> gx >> gy >> links >> loops >> springs >> torques;
        Force::UniformGravity(forces, matter, Vec3(gx, gy, 0));
        for (int i = 0; i < links; i++) read_link(in);
        for (int i = 0; i < loops; i++) {
            int a, b;
            double ax, ay, bx, by;
            in >> a >> ax >> ay >> b >> bx >> by;
            Constraint::Ball(at(a), Vec3(ax, ay, 0), at(b), Vec3(bx, by, 0));
        }
        for (int i = 0; i < springs; i++) {
            int body;
            double x, y, fixed_x, fixed_y, stiffness, length;
            in >> body >> x >> y >> fixed_x >> fixed_y >> stiffness >> length;
            Vec3 anchor(fixed_x, fixed_y, 0);
            Force::TwoPointLinearSpring(forces, at(-1), anchor, at(body), Vec3(x, y, 0), stiffness, length);
        }
        for (int i = 0; i < torques; i++) {
            int body;
            double torque;
            in >> body >> torque;
            Force::ConstantTorque(forces, at(body), Vec3(0, 0, torque));
        }
    }

    void read_link(std::istream& in) {
        int parent, slides;
        double x, y, cx, cy, mass, inertia, rate;
        in >> parent >> slides >> x >> y >> cx >> cy >> mass >> inertia >> rate;
        Vec3 center(cx, cy, 0);
        Inertia about_joint = Inertia(inertia, inertia, inertia).shiftFromMassCenter(center, mass);
        Body::Rigid body(MassProperties(mass, center, about_joint));
        Transform place(Vec3(x, y, 0));
        MobilizedBody on = at(parent);
        if (slides) bodies.push_back(MobilizedBody::Slider(on, place, body, Transform()));
        else bodies.push_back(MobilizedBody::Pin(on, place, body, Transform()));
        rates.push_back(rate);
    }

    void print(const State& state) {
        for (auto& body : bodies) std::cout << body.getOneQ(state, 0) << ' ' << body.getOneU(state, 0) << '\n';
    }
};

int main() {
    std::cout << std::setprecision(17);
    Mechanism mechanism;
    mechanism.read(std::cin);
    State start = mechanism.system.realizeTopology();
    for (size_t i = 0; i < mechanism.rates.size(); i++) mechanism.bodies[i].setOneU(start, 0, mechanism.rates[i]);
    double accuracy, t_end;
    int samples;
    while (std::cin >> accuracy >> t_end >> samples) {
        RungeKuttaMersonIntegrator integrator(mechanism.system);
        integrator.setAccuracy(accuracy);
        TimeStepper stepper(mechanism.system, integrator);
        stepper.initialize(start);
        auto wall = std::chrono::steady_clock::now();
        double processor = processor_seconds();
        for (int k = 1; k <= samples; k++) {
            stepper.stepTo(t_end * k / samples);
            if (k < samples) mechanism.print(integrator.getState());
        }
        processor = processor_seconds() - processor;
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - wall;
        mechanism.print(integrator.getState());
        std::cout << std::min(seconds.count(), processor) << ' ' << integrator.getNumStepsTaken() << std::endl;
    }
}
